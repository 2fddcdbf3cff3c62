import fc from 'fast-check';
import { createMemoryStore, type Store } from 'posthorn';
import { expect } from 'vitest';
import { anyCharacter } from '../../support/any-character.ts';

/** Far longer than the test, so that no lease and no record ends within it. */
const LONG_MS = 3_600_000;

const id = fc.constantFrom('one', 'two');
const token = fc.constantFrom('a', 'b', 'ü {c}', 'hold:d');
const handled = fc.uniqueArray(fc.string({ unit: anyCharacter, maxLength: 12 }), { maxLength: 4 });
const refuseClaimsMs = fc.constantFrom(undefined, LONG_MS);
const attemptSpacingMs = fc.constantFrom(0, LONG_MS);

const operation = fc.oneof(
  fc.record({ name: fc.constant('claim' as const), id, token, attemptSpacingMs }),
  fc.record({ name: fc.constant('renew' as const), id, token }),
  fc.record({ name: fc.constant('complete' as const), id, token }),
  fc.record({ name: fc.constant('release' as const), id, token, handled, refuseClaimsMs }),
  fc.record({ name: fc.constant('peek' as const), id, token }),
);
type Operation = typeof operation extends fc.Arbitrary<infer T> ? T : never;

/** What the store answers, without what depends on the time. */
async function answer(store: Store, operation: Operation, prefix: string): Promise<unknown> {
  const request = {
    id: prefix + operation.id,
    token: operation.token,
    leaseMs: LONG_MS,
    retentionMs: LONG_MS,
  };
  switch (operation.name) {
    case 'claim': {
      const result = await store.claim({ ...request, attemptSpacingMs: operation.attemptSpacingMs });
      if (result.state === 'busy') return { state: 'busy' };
      return result.state === 'claimed' ? { ...result, firstClaimedMsAgo: 0, waitedMs: 0 } : result;
    }
    case 'renew':
      return store.renew(request);
    case 'complete':
      return store.complete(request);
    case 'release':
      return store.release({ ...request, ...operation, id: request.id });
    case 'peek':
      return store.peek?.(request);
  }
}

/** Any operations get the same answers from the store as from a memory store. */
export async function expectLikeMemoryStore(store: Store): Promise<void> {
  let run = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(operation, { minLength: 1, maxLength: 25 }), async (operations) => {
      const memoryStore = createMemoryStore();
      run += 1;
      for (const next of operations) {
        expect(await answer(store, next, `${run}-`)).toEqual(await answer(memoryStore, next, ''));
      }
    }),
    { numRuns: 300 },
  );
}
