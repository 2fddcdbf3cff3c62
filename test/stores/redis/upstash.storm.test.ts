import { randomUUID } from 'node:crypto';
import { createRedisDeadLetters, createRedisStore } from 'posthorn/redis';
import { describe, expect, test } from 'vitest';
import { ampleTime } from '../../support/limits.ts';
import { expectLikeMemoryStore } from '../kit/like-memory-store.ts';
import { weatherStorm } from '../kit/storm.ts';
import { describeDeadLetters } from './conformance.ts';
import { noRetry, useUpstash } from './upstash-fixture.ts';
import type { Mistreatment } from './upstash-front.ts';

const FAULT_SHARE = 0.25;
const kinds: readonly Mistreatment[] = [
  'cut before the command',
  'cut after the command',
  'silent',
  'over the limit',
];
/** So that what has failed is tried again at once. */
const quickRetries = { retry: { retries: 5, backoff: () => 20 } };

describe('a client of Upstash', () => {
  const fixture = useUpstash();
  const { connect } = fixture;

  describeDeadLetters('as the dead letters', async () => ({ client: connect(), close: () => {} }));

  test('behaves as the reference model under any interleaving of its operations', async () => {
    await expectLikeMemoryStore(createRedisStore(connect(), { scope: randomUUID(), ...ampleTime }));
  });

  test('storm: two receivers, with lost answers, cut requests and refusals: nothing is lost, and nothing completed is claimed again', async () => {
    let faults = 0;
    fixture.front.nextMistreatment = () => {
      if (Math.random() > FAULT_SHARE) return 'none';
      faults += 1;
      const kind = kinds[Math.floor(Math.random() * kinds.length)] ?? 'none';
      // An answer that never comes takes two seconds.
      return kind === 'silent' && Math.random() > 0.1 ? 'cut after the command' : kind;
    };
    const openStore = (retry: object) => ({
      store: createRedisStore(connect(retry), { scope: 'storm' }),
      deadLetters: createRedisDeadLetters(connect(retry), { scope: 'storm' }),
    });
    const counts = await weatherStorm({
      receivers: [noRetry, quickRetries].map(openStore),
      calm: () => {
        fixture.front.nextMistreatment = () => 'none';
      },
    });
    process.stdout.write(`storm on Upstash: ${JSON.stringify({ ...counts, faults })}\n`);
    expect(faults).toBeGreaterThan(100);
  });
});
