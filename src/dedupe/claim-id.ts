const ACCEPTANCE = 'accepted:';
const ESCAPE = 'handled:';

/**
 * What the store knows the handling of an event by: its id. One that looks like that of an acceptance is
 * marked, so that no two events meet, whatever their ids look like.
 */
export function handlingId(id: string): string {
  return id.startsWith(ACCEPTANCE) || id.startsWith(ESCAPE) ? ESCAPE + id : id;
}

/**
 * What the store knows the acceptance of an event by: its handlers that run before the answer, and its way
 * into the queue.
 */
export function acceptanceId(id: string): string {
  return ACCEPTANCE + id;
}
