import {
  createMemoryStore,
  createReceiver,
  type DeadLetter,
  type HandlerContext,
  type JournalRecord,
  type Receiver,
} from 'posthorn';
import type { MockInstance } from 'vitest';
import { closedAtEnd } from '../support/closed-at-end.ts';
import { handledEntry } from '../support/handled-entry.ts';
import { createMapDeadLetters } from '../support/map-dead-letters.ts';
import { createMapJournal } from '../support/map-journal.ts';
import type { EndpointOptions } from '../support/open-endpoint.ts';
import { KEY } from '../support/served.ts';
import { silenced } from '../support/silenced.ts';

/** The time at which the clocks of these receivers stand. */
export const NOW: number = Date.parse('2026-05-04T03:02:01Z');

/** The first dead letter was parked an hour ago, and each further one a second later. */
const FIRST_PARKED_AT = NOW - 3_600_000;

export const idOf = (n: number): string => `evt_${String(n).padStart(3, '0')}`;

/** The body of an event. */
export function bodyOf(id: string, type = 'transfer.succeeded'): Buffer {
  return Buffer.from(
    JSON.stringify({ id, type, created_at: new Date(NOW).toISOString(), data: { amount: 1 } }),
  );
}

/** The dead letter of the n-th event. */
export function letter(n: number, changes: Partial<DeadLetter> = {}): DeadLetter {
  const { id = idOf(n), type = 'transfer.succeeded' } = changes;
  const parkedAt = FIRST_PARKED_AT + n * 1_000;
  return {
    id,
    type,
    reason: 'handler_failed',
    message: 'the account is locked',
    rawBody: bodyOf(id, type),
    headers: { 'x-trace': ['t-1'] },
    receivedAt: parkedAt,
    parkedAt,
    attempts: 4,
    handled: [],
    ...changes,
  };
}

/** The dead letters of the first events. */
export const letters = (count: number): DeadLetter[] =>
  Array.from({ length: count }, (_, index) => letter(index + 1));

/** The entry of the n-th event in a journal. */
export function record(n: number, changes: Partial<JournalRecord> = {}): JournalRecord {
  const { id = idOf(n), type = 'transfer.succeeded' } = changes;
  const firstReceivedAt = FIRST_PARKED_AT + n * 1_000;
  const times = { firstReceivedAt, lastReceivedAt: firstReceivedAt, decidedAt: firstReceivedAt };
  return { ...handledEntry({ id, type }), ...times, finality: 5, rawBody: bodyOf(id, type), ...changes };
}

interface OperatedOptions extends EndpointOptions {
  readonly parked?: readonly DeadLetter[];
  /** The entries of its journal. It has none without them. */
  readonly records?: readonly JournalRecord[];
  /** Is called for each event after its id was noted. */
  readonly handle?: (event: { readonly id: string }, context: HandlerContext) => unknown;
}

/** A receiver that an operator looks after. */
export interface Operated {
  readonly receiver: Receiver;
  /** The dead letters that are left. */
  readonly left: Map<string, DeadLetter>;
  /** The ids of the events whose handler has begun, in order. */
  readonly handled: readonly string[];
  /** The lines that `console.info` gets. */
  readonly log: MockInstance<typeof console.info>;
}

/** Creates a receiver with dead letters, and perhaps a journal; its handler is named "book". */
export function createOperated(options: OperatedOptions = {}): Operated {
  const { handle = () => {}, parked = [], records, ...rest } = options;
  const left = new Map(parked.map((one) => [one.id, one]));
  const journal = records && createMapJournal(new Map(records.map((one) => [one.key ?? one.id, one])));
  const own = { deadLetters: createMapDeadLetters(left), journal, store: createMemoryStore() };
  const handled: string[] = [];
  const receiver = createReceiver({ signingKey: KEY, now: () => NOW, ...own, ...rest });
  receiver.observe(() => {});
  receiver.on('*', runAndNote, { name: 'book' });
  return { receiver: closedAtEnd(receiver), left, handled, log: silenced('info') };

  async function runAndNote(event: { readonly id: string }, context: HandlerContext): Promise<void> {
    handled.push(event.id);
    await handle(event, context);
  }
}
