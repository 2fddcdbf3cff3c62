import { randomUUID } from 'node:crypto';
import { createDynamoStore } from 'posthorn/dynamodb';
import { describe, expect, test } from 'vitest';
import { ampleTime } from '../../support/limits.ts';
import { atTime, useSkewedClocks, withSkew } from './clock.ts';
import { useDynamo } from './fixture.ts';

const HOUR_MS = 3_600_000;
const SKEW_MS = 5_000;
const clocks = [-SKEW_MS, 0, SKEW_MS];
const pairs = clocks.flatMap((writer) => clocks.map((reader) => ({ writer, reader })));

describe.concurrent('clocks of a writer and a reader that are wrong by so many milliseconds', () => {
  const dynamo = useDynamo();
  useSkewedClocks();
  const open = () =>
    createDynamoStore(dynamo.client, { table: dynamo.table, scope: randomUUID(), ...ampleTime });

  test.each(pairs)('$writer, $reader: a completed id is not claimed within its retention', async (pair) => {
    const store = open();
    const id = { id: 'evt', retentionMs: HOUR_MS };
    const begin = Date.now();
    await atTime(begin + pair.writer, () => store.complete({ ...id, token: 't' }));
    const claim = { ...id, token: 'u', leaseMs: 1_000 };
    for (const passedMs of [0, HOUR_MS / 2, HOUR_MS - 1]) {
      const { state } = await atTime(begin + passedMs + pair.reader, () => store.claim(claim));
      expect(state).toBe('completed');
    }
  });

  test.each(pairs)(
    '$writer, $reader: a running lease is not taken, and an expired one is in the end',
    async (pair) => {
      const store = open();
      const claim = { id: 'evt', leaseMs: 60_000, retentionMs: HOUR_MS };
      const begin = Date.now();
      await atTime(begin + pair.writer, () => store.claim({ ...claim, token: 't' }));
      const claimAfter = (passedMs: number) =>
        atTime(begin + passedMs + pair.reader, () => store.claim({ ...claim, token: 'u' }));
      for (const passedMs of [0, claim.leaseMs / 2, claim.leaseMs - 1])
        expect(await claimAfter(passedMs)).toMatchObject({ state: 'busy' });
      // Ten seconds are allowed, and the two clocks are ten seconds apart at most.
      const taken = await claimAfter(claim.leaseMs + 20_001);
      expect(taken).toMatchObject({ state: 'claimed', attempt: 2, abandoned: 1 });
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
