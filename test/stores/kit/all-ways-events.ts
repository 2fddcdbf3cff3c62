import { createEvent } from 'posthorn/testing';

export const EVENTS = 1_000;
/** One of so many events is poison for a handler: also some that are both delivered and accepted. */
const POISON_EVERY = 21;

/** The options of a rerun. */
export interface Rerun {
  readonly run: string;
  readonly handlers: readonly string[];
}

/** The handlers of the inbox, and the one outside of it. */
export const INBOX: readonly string[] = ['book', 'mail'];
export const HANDLERS: readonly string[] = [...INBOX, 'notify'];
/** The reruns of each event. */
export const RERUNS: readonly Rerun[] = [
  { run: 'fix-1', handlers: ['book', 'notify'] },
  { run: 'fix-2', handlers: ['mail', 'notify'] },
];
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
