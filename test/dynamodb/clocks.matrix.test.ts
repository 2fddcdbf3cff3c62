import { randomUUID } from 'node:crypto';
import { createDynamoStore } from 'posthorn/dynamodb';
import { describe, expect, test } from 'vitest';
import { until } from '../support/until.ts';
import { useSkewedClocks, withSkew } from './clock.ts';
import { useDynamo } from './fixture.ts';

const SKEW_MS = 5_000;
const clocks = [-SKEW_MS, 0, SKEW_MS];
const pairs = clocks.flatMap((writer) => clocks.map((reader) => ({ writer, reader })));

describe.concurrent('clocks of a writer and a reader that are wrong by so many milliseconds', () => {
  const dynamo = useDynamo();
  useSkewedClocks();
  const open = () => createDynamoStore(dynamo.client, { table: dynamo.table, scope: randomUUID() });

  test.each(pairs)('$writer, $reader: a completed id is not claimed within its retention', async (pair) => {
    const store = open();
    const id = { id: 'evt', retentionMs: 3_000 };
    const begin = performance.now();
    await withSkew(pair.writer, () => store.complete({ ...id, token: 't' }));
    for (;;) {
      const claim = { ...id, token: 'u', leaseMs: 1_000 };
      const { state } = await withSkew(pair.reader, () => store.claim(claim));
      // The end of the retention comes in the middle of an operation.
      if (performance.now() - begin > id.retentionMs - 500) break;
      expect(state).toBe('completed');
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  });

  test.each(pairs)(
    '$writer, $reader: a running lease is not taken, and an expired one is in the end',
    async (pair) => {
      const store = open();
      const claim = { id: 'evt', leaseMs: 2_000, retentionMs: 3_600_000 };
      const begin = performance.now();
      await withSkew(pair.writer, () => store.claim({ ...claim, token: 't' }));
      let taken: object = {};
      await until(
        'the lease is taken',
        async () => {
          const result = await withSkew(pair.reader, () => store.claim({ ...claim, token: 'u' }));
          taken = result;
          if (result.state === 'busy') await new Promise((resolve) => setTimeout(resolve, 100));
          return result.state === 'claimed';
        },
        30_000,
      );
      expect(performance.now() - begin).toBeGreaterThan(claim.leaseMs);
      expect(performance.now() - begin).toBeLessThan(claim.leaseMs + 20_000 + 15_000);
      expect(taken).toMatchObject({ attempt: 2, abandoned: 1 });
      // The former owner learns it, by whatever clock.
      const renewal = withSkew(pair.writer, () => store.renew({ ...claim, token: 't' }));
      expect(await renewal).toEqual({ state: 'lost' });
    },
  );

  test('a clock that is set back between two claims counts the attempt as spaced', async () => {
    const store = open();
    const claim = { id: 'evt', leaseMs: 1_000, retentionMs: 3_600_000, attemptSpacingMs: 30_000 };
    await store.claim({ ...claim, token: 't' });
    await store.release({ id: 'evt', token: 't', retentionMs: 3_600_000, handled: [] });
    const again = await withSkew(-SKEW_MS, () => store.claim({ ...claim, token: 'u' }));
    expect(again).toMatchObject({ attempt: 2, spacedAttempts: 2, firstClaimedMsAgo: 0 });
  });
});
