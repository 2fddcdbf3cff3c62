import { createRedisStore } from 'posthorn/redis';
import { describe, test } from 'vitest';
import { ampleTime } from '../../support/limits.ts';
import { expectLateClaimsRefused } from '../kit/late-claims.ts';
import { expectLikeMemoryStore } from '../kit/like-memory-store.ts';
import { useRedis } from './fixture.ts';

describe('the Redis store', () => {
  const fixture = useRedis();

  test('answers like the memory store, whatever the operations', async () => {
    await expectLikeMemoryStore(createRedisStore(await fixture.connect(), { scope: 'model', ...ampleTime }));
  });

  test('refuses a claim after its release, in whatever order they and another claim take effect', async () => {
    const open = async () => createRedisStore(await fixture.connect(), { scope: 'orders', ...ampleTime });
    await expectLateClaimsRefused(await open(), await open());
  });
});
