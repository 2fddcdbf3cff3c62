/** Stores hold ids that begin so. */
const ENQUEUEING = 'accepted:';
const ESCAPE = 'handled:';

/**
 * The id of an event's handling in the store: that of the event. One that looks like that of an enqueueing is
 * marked, so that no two events meet, whatever their ids look like.
 */
export function handlingId(id: string): string {
  return id.startsWith(ENQUEUEING) || id.startsWith(ESCAPE) ? ESCAPE + id : id;
}

/**
 * The id of an event's enqueueing in the store: of its handlers that run before the answer, and its way into
 * the queue.
 */
export function enqueueingId(id: string): string {
  return ENQUEUEING + id;
}

/** An id that no store knows: no event has it, because ids that begin alike are marked by `handlingId`. */
export const PROBE_ID: string = `${ESCAPE}health`;
