import { createRedisStore } from 'posthorn/redis';
import { describe, expect, test } from 'vitest';
import { ampleTime } from '../../support/limits.ts';
import { describeStore } from './conformance.ts';
import { drivers, ioredis6, nodeRedis6 } from './drivers.ts';
import { useRedis } from './fixture.ts';

// A client of each package proves its file in src/stores/redis/clients. Their other versions, Sentinel and
// Clusters are in conformance.storm.test.ts; Upstash is in upstash.program.test.ts.

describe('on a single Redis', () => {
  const fixture = useRedis();

  describeStore('the store with ioredis 6', () => ioredis6.single(fixture.redis.port));
  describeStore('the store with node-redis 6', () => nodeRedis6.single(fixture.redis.port));

  test('receivers on different clients share their events', async () => {
    const clients = await Promise.all(
      drivers.map((driver) => fixture.keepOpen(driver.single(fixture.redis.port))),
    );
    const stores = clients.map(({ client }) => createRedisStore(client, { scope: 'shared', ...ampleTime }));
    const times = { leaseMs: 120_000, retentionMs: 600_000 };
    for (const [owner, store] of stores.entries()) {
      const id = `of-${owner}`;
      await store.claim({ ...times, id, token: `${owner}` });
      for (const [other, another] of stores.entries()) {
        const expected = other === owner ? 'claimed' : 'busy';
        expect((await another.claim({ ...times, id, token: `${other}` })).state).toBe(expected);
      }
      await store.release({ ...times, id, token: `${owner}`, handled: ['book'] });
      const next = stores[(owner + 1) % stores.length];
      const again = { ...times, id, token: 'next' };
      expect(await next?.claim(again)).toMatchObject({ state: 'claimed', attempt: 2, handled: ['book'] });
      await next?.complete(again);
      for (const another of stores)
        expect((await another.claim({ ...again, token: 'late' })).state).toBe('completed');
    }
  });
});
