import { randomUUID } from 'node:crypto';
import { createRedisDeadLetters, createRedisStore, type RedisClient } from 'posthorn/redis';
import { beforeAll, describe, expect, test } from 'vitest';
import { createLetter, deadLettersConformance } from '../dead-letters/conformance.ts';
import { type ScopeOnServer, serverDeadLettersConformance } from '../dead-letters/server-conformance.ts';
import { readAll } from '../support/read-all.ts';
import { createClusterClient, ready } from './clients.ts';
import { useRedis } from './fixture.ts';

describe.each(['a single Redis', 'a Cluster'])('dead letters in %s', (topology) => {
  const fixture = useRedis();
  let port: number;

  beforeAll(async () => {
    if (topology === 'a Cluster') port = (await fixture.servers.cluster())[0]?.port ?? 0;
  }, 60_000);

  describe.each([5, 6] as const)('with ioredis %i', (major) => {
    let client: RedisClient;

    beforeAll(async () => {
      client =
        topology === 'a Cluster'
          ? await ready(fixture.keep(createClusterClient(major, port)))
          : await fixture.connect({ major });
    });

    for (const { name, check } of deadLettersConformance)
      test(name, () => check(createRedisDeadLetters(client, { scope: randomUUID() })));

    const open = (scope: string): ScopeOnServer => ({
      deadLetters: createRedisDeadLetters(client, { scope }),
      store: createRedisStore(client, { scope }),
    });
    for (const { name, check } of serverDeadLettersConformance) test(name, () => check(open));
  });
});

describe('dead letters in a Redis', () => {
  const fixture = useRedis();

  test('that has no memory left can still be removed', async () => {
    const { put, list, remove } = createRedisDeadLetters(await fixture.connect(), { scope: randomUUID() });
    await put(createLetter({ id: 'a' }));
    fixture.redis.command('config', 'set', 'maxmemory', '1');
    try {
      await expect(put(createLetter({ id: 'b' }))).rejects.toMatchObject({
        code: 'dead_letters_unavailable',
      });
      expect(await remove('a')).toBe(true);
    } finally {
      fixture.redis.command('config', 'set', 'maxmemory', '0');
    }
    expect((await readAll(list())).map(({ id }) => id)).toEqual([]);
  });
});
