import type { JournalOutcome, JournalRecord } from './journal.ts';

/**
 * How final each outcome is. Several processes write the outcomes of one event, in any order: a handled event
 * stays handled, and a parked one is parked until it is handled. A retry may follow the others.
 */
export const FINALITY: Readonly<Record<JournalOutcome, number>> = {
  processed: 4,
  parked: 3,
  queued: 2,
  failed: 2,
  ignored: 1,
  rejected: 1,
};

/**
 * The finality of an outcome that only the answer to a duplicate implies: the record of the run itself
 * replaces it.
 */
export const IMPLIED = 0;

/**
 * Joins two records of one event. The order does not matter, nor does it which of them is the entry:
 * receivers join what waits, and journals without a server what they have. `createPostgresJournal` does the
 * same in SQL.
 */
export function mergeRecords(one: JournalRecord, other: JournalRecord): JournalRecord {
  const { outcome, code, finality, decidedAt } = isMoreFinal(other, one) ? other : one;
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

function isMoreFinal(one: JournalRecord, other: JournalRecord): boolean {
  return one.finality === other.finality ? one.decidedAt > other.decidedAt : one.finality > other.finality;
}

/** The event's key. */
export function keyOfRecord({ id, key = id }: Pick<JournalRecord, 'id' | 'key'>): string {
  return key;
}
