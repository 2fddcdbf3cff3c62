import { expect, test } from 'vitest';
import { expectKeysHold } from '../kit/key-storm.ts';
import { useRedis } from './fixture.ts';

const fixture = useRedis();

test('two processes on Redis, killed and frozen: events of one key are handled one at a time, and none is lost', async () => {
  expect.hasAssertions();
  const { redis } = fixture;
  await expectKeysHold({
    env: { STORE: 'redis', ADDRESS: String(redis.port) },
    countKeys: () => redis.command('keys', 'keys:handled:key:*').split('\n').filter(Boolean).length,
  });
});
