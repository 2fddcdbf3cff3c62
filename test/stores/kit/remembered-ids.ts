import { createMemoryStore, type Store } from 'posthorn';
import { expect } from 'vitest';

export const RETENTION_MS = 1_000;

/** Completes an id. */
export const complete = (store: Store, id: string) =>
  store.complete({ id, token: 't', retentionMs: RETENTION_MS });

/** What a later claim finds. */
export const isCompleted = async (store: Store, id: string): Promise<boolean> => {
  const { state } = await store.claim({ id, token: 't', leaseMs: 1, retentionMs: RETENTION_MS });
  return state === 'completed';
};

type IdOf = (index: number) => string;

/** Ids of which a hash could spread some badly. */
export const idForms: readonly (readonly [string, IdOf])[] = [
  ['that begin alike', (index) => `evt_${index}`],
  ['of twice the same digits', (index) => `${index}:${index}`],
  ['of digits that only count', (index) => String(index)],
  ['of padded digits', (index) => `evt_${String(index).padStart(24, '0')}`],
];

interface Completions {
  readonly maxEntries: number;
  /** Of the ids that are completed: more than maxEntries. */
  readonly count: number;
  readonly idOf: IdOf;
}

/** Completes ids, and expects the store to know the latest ones, as many as maxEntries, and no other. */
export async function expectLatestRemembered({ maxEntries, count, idOf }: Completions): Promise<void> {
  const store = createMemoryStore({ maxEntries, now: () => 0 });
  const ids = Array.from({ length: count }, (_, index) => idOf(index));
  for (const id of ids) await complete(store, id);
  const remembered = await Promise.all(ids.toReversed().map((id) => isCompleted(store, id)));
  expect(remembered.indexOf(false)).toBe(maxEntries);
  expect(remembered.lastIndexOf(true)).toBe(maxEntries - 1);
}
