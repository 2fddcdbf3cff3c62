import type { JournalOutcome, JournalRecord } from './journal.ts';

/**
 * The rank of each outcome. Several processes write the outcomes of one event, in any order: a handled event
 * stays handled, and a parked one is parked until it is handled. Of the others the latest counts, because a
 * retry may have another end: of an event that was refused while the receiver closed, that it was ignored.
 * Only a refusal does not count beside them: it may be that of an old recording of the event.
 */
export const FINALITY: Readonly<Record<JournalOutcome, number>> = {
  processed: 4,
  parked: 3,
  queued: 2,
  failed: 2,
  ignored: 2,
  rejected: 1,
};

/**
 * The finality of an outcome that only the answer to a duplicate implies: the record of the run itself
 * replaces it.
 */
export const IMPLIED = 0;

/**
 * Joins a record of an event, or its entry, with one that is added later. Only for outcomes of the same
 * millisecond does the order matter: the later one counts. Receivers join what waits, and the journal in
 * SQLite what it has; the one in PostgreSQL does the same in SQL.
 */
export function mergeRecords(one: JournalRecord, other: JournalRecord): JournalRecord {
  const { outcome, code, finality, decidedAt } = isAsFinal(other, one) ? other : one;
  return {
    ...one,
    type: one.type ?? other.type,
    createdAt: one.createdAt ?? other.createdAt,
    firstReceivedAt: Math.min(one.firstReceivedAt, other.firstReceivedAt),
    lastReceivedAt: Math.max(one.lastReceivedAt, other.lastReceivedAt),
    deliveries: one.deliveries + other.deliveries,
    attempts: Math.max(one.attempts, other.attempts),
    outcome,
    code,
    finality,
    decidedAt,
    handled: [...new Set([...one.handled, ...other.handled])],
    resource: one.resource ?? other.resource,
    rawBody: one.rawBody ?? other.rawBody,
    headers: one.headers ?? other.headers,
  };
}

function isAsFinal(one: JournalRecord, other: JournalRecord): boolean {
  return one.finality === other.finality ? one.decidedAt >= other.decidedAt : one.finality > other.finality;
}

/** The event's key. */
export function keyOfRecord({ id, key = id }: Pick<JournalRecord, 'id' | 'key'>): string {
  return key;
}
