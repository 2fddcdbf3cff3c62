import fc from 'fast-check';
import { createMemoryStore } from 'posthorn';
import { createPostgresStore } from 'posthorn/postgres';
import { describe, expect, test } from 'vitest';
import type { Store } from '../../src/dedupe/store.ts';
import { usePostgres } from './fixture.ts';
import { isPostgresInstalled } from './installed.ts';

/** Far longer than the test, so that no lease and no record ends within it. */
const LONG_MS = 3_600_000;

const id = fc.constantFrom('one', 'two');
const token = fc.constantFrom('a', 'b', 'ü {c}');
const handled = fc.uniqueArray(fc.string({ unit: 'binary', maxLength: 12 }), { maxLength: 4 });
const attemptSpacingMs = fc.constantFrom(0, LONG_MS);

const operation = fc.oneof(
  fc.record({ name: fc.constant('claim' as const), id, token, attemptSpacingMs }),
  fc.record({ name: fc.constant('renew' as const), id, token }),
  fc.record({ name: fc.constant('complete' as const), id, token }),
  fc.record({ name: fc.constant('release' as const), id, token, handled }),
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
      return result.state === 'claimed' ? { ...result, firstClaimedMsAgo: 0 } : result;
    }
    case 'renew':
      return store.renew(request);
    case 'complete':
      return store.complete(request);
    case 'release':
      return store.release({ ...request, handled: operation.handled });
  }
}

describe.skipIf(!isPostgresInstalled())('the PostgreSQL store and the memory store', () => {
  const fixture = usePostgres();

  test('answer alike, whatever the operations', { timeout: 60_000 }, async () => {
    const postgresStore = createPostgresStore(fixture.connect(), { scope: 'model' });
    let run = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(operation, { minLength: 1, maxLength: 25 }), async (operations) => {
        const memoryStore = createMemoryStore();
        run += 1;
        for (const next of operations) {
          expect(await answer(postgresStore, next, `${run}-`)).toEqual(await answer(memoryStore, next, ''));
        }
      }),
      { numRuns: 300 },
    );
  });
});
