import { looksLikeKey } from '../provider/event-key.ts';

/** Stores hold ids with these prefixes, so the prefixes must not change. */
const ENQUEUEING = 'accepted:';
const ESCAPE = 'handled:';

/**
 * The id of an event's handling in the store: the event's key. A key that begins with a prefix of ours gets
 * `handled:` before it, so that no two events share an id, whatever their keys look like. The keys of
 * `event-key.ts` that name their provider have that prefix already.
 */
export function handlingId(key: string): string {
  const mustEscape = key.startsWith(ENQUEUEING) || (key.startsWith(ESCAPE) && !looksLikeKey(key));
  return mustEscape ? ESCAPE + key : key;
}

/**
 * The id of an event's enqueueing in the store. It is completed once the handlers before the answer have
 * succeeded and the event is in the queue.
 */
export function enqueueingId(key: string): string {
  return ENQUEUEING + key;
}

/**
 * The id of a handler's key in the store. No event has such an id, because `handlingId` adds `handled:` to
 * ids that begin with it. The length keeps name and key apart, because each may hold a colon.
 */
export function keyId(handler: string, key: string): string {
  return `${ESCAPE}key:${handler.length}:${handler}:${key}`;
}

/** The id of a rerun of a handler for an event. It is completed once the handler has succeeded. */
export function rerunId(handler: string, run: string, key: string): string {
  return `${ESCAPE}rerun:${handler.length}:${handler}:${run.length}:${run}:${key}`;
}

/** The id that a rerun of a handler holds, so that no other rerun of it runs for the event meanwhile. */
export function rerunTurnId(handler: string, key: string): string {
  return `${ESCAPE}rerun-turn:${handler.length}:${handler}:${key}`;
}

/**
 * An id that no store knows. No event has it, because `handlingId` adds the prefix to ids that begin with it.
 */
export const PROBE_ID: string = `${ESCAPE}health`;
