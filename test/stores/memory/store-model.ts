import type { StoreOperation } from '../kit/store-operations.ts';

/** A lease holds for so many ticks. The model knows no other time. */
export const LEASE_TICKS = 2;

/** Numbers are counted up to here, so that there are finitely many states. */
const MOST_ATTEMPTS = 3;
const MOST_ABANDONED = 1;

/** What the store knows of the one event. A token names a claim. */
export type StoreRecord =
  | { readonly state: 'absent' }
  | {
      readonly state: 'processing';
      readonly token: string;
      readonly leaseLeft: number;
      readonly attempt: number;
      readonly abandoned: number;
    }
  | {
      readonly state: 'released';
      readonly token: string;
      readonly attempt: number;
      readonly abandoned: number;
    }
  | { readonly state: 'completed' };

/** What an operation answers. */
export interface StoreAnswer {
  readonly state: 'claimed' | 'busy' | 'held' | 'lost' | 'released' | 'completed';
  readonly attempt?: number;
  readonly abandoned?: number;
}

export interface StoreStep {
  readonly record: StoreRecord;
  readonly answer: StoreAnswer;
}

/** The counts of a real store, as far as the model counts. */
export function countedAnswer({ state, attempt, abandoned }: StoreAnswer): StoreAnswer {
  if (attempt === undefined || abandoned === undefined) return { state };
  return {
    state,
    attempt: Math.min(attempt, MOST_ATTEMPTS),
    abandoned: Math.min(abandoned, MOST_ABANDONED),
  };
}

/** The table of the design: an operation on a record gives another record and an answer. */
export function operate(record: StoreRecord, operation: StoreOperation, token: string): StoreStep {
  switch (operation) {
    case 'claim':
      return claim(record, token);
    case 'renew':
      return renew(record, token);
    case 'complete':
      return { record: COMPLETED, answer: { state: 'completed' } };
    case 'release':
      return release(record, token);
  }
}

/** A tick of the clock: a lease that nobody renews runs out. */
export function tick(record: StoreRecord): StoreRecord {
  if (record.state !== 'processing' || record.leaseLeft === 0) return record;
  return { ...record, leaseLeft: record.leaseLeft - 1 };
}

const COMPLETED: StoreRecord = { state: 'completed' };

function claim(record: StoreRecord, token: string): StoreStep {
  switch (record.state) {
    case 'completed':
      return { record, answer: { state: 'completed' } };
    case 'absent':
      return claimed(token, 1, 0);
    case 'released':
      return claimed(token, record.attempt + 1, record.abandoned);
    case 'processing':
      if (record.token === token) return claimed(token, record.attempt, record.abandoned);
      if (record.leaseLeft > 0) return { record, answer: { state: 'busy' } };
      return claimed(token, record.attempt + 1, record.abandoned + 1);
  }
}

function claimed(token: string, attempts: number, abandonments: number): StoreStep {
  const attempt = Math.min(attempts, MOST_ATTEMPTS);
  const abandoned = Math.min(abandonments, MOST_ABANDONED);
  return {
    record: { state: 'processing', token, leaseLeft: LEASE_TICKS, attempt, abandoned },
    answer: { state: 'claimed', attempt, abandoned },
  };
}

function renew(record: StoreRecord, token: string): StoreStep {
  switch (record.state) {
    case 'completed':
      return { record, answer: { state: 'completed' } };
    case 'absent':
      return { ...claimed(token, 1, 0), answer: { state: 'held' } };
    case 'released':
      return { record, answer: { state: 'lost' } };
    case 'processing':
      if (record.token !== token) return { record, answer: { state: 'lost' } };
      return { record: { ...record, leaseLeft: LEASE_TICKS }, answer: { state: 'held' } };
  }
}

function release(record: StoreRecord, token: string): StoreStep {
  switch (record.state) {
    case 'completed':
      return { record, answer: { state: 'completed' } };
    case 'absent':
      return { record, answer: { state: 'lost' } };
    case 'released':
    case 'processing': {
      if (record.token !== token) return { record, answer: { state: 'lost' } };
      const { attempt, abandoned } = record;
      return { record: { state: 'released', token, attempt, abandoned }, answer: { state: 'released' } };
    }
  }
}
