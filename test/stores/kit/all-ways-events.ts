import { createEvent } from 'posthorn/testing';

export const EVENTS = 1_000;
/** One of so many events is poison for a handler: also some that are both delivered and accepted. */
const POISON_EVERY = 21;

/** The handlers of the inbox, and the one outside of it. */
export const INBOX: readonly string[] = ['book', 'mail'];
export const HANDLERS: readonly string[] = [...INBOX, 'notify'];
/** The reruns of each event, and the handlers that they run. */
export const RUNS: readonly string[] = ['fix-1', 'fix-2'];
export const RERUN_HANDLERS: readonly string[] = ['book', 'notify'];
export type StormEvent = ReturnType<typeof createEvent>;

export function createStormEvents(): StormEvent[] {
  return Array.from({ length: EVENTS }, (_, index) => createStormEvent(index));
}

function createStormEvent(index: number): StormEvent {
  const poison = HANDLERS[Math.floor(index / POISON_EVERY) % HANDLERS.length];
  return createEvent('transfer.succeeded', {
    id: `TR_${index}`,
    ...(index % POISON_EVERY === 0 && { poison }),
  });
}
