import { randomUUID } from 'node:crypto';
import { createRedisDeadLetters, createRedisStore, type RedisClient } from 'posthorn/redis';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createLetter, deadLettersConformance } from '../dead-letters/conformance.ts';
import { type ScopeOnServer, serverDeadLettersConformance } from '../dead-letters/server-conformance.ts';
import { readAll } from '../support/read-all.ts';
import { drivers, type OpenClient } from './drivers.ts';
import { useRedis } from './fixture.ts';

describe.each(['a single Redis', 'a Cluster'])('dead letters in %s', (topology) => {
  const fixture = useRedis();
  const isCluster = topology === 'a Cluster';
  let port: number;

  beforeAll(async () => {
    port = isCluster ? ((await fixture.servers.cluster())[0]?.port ?? 0) : fixture.redis.port;
  }, 60_000);

  const able = drivers.filter(({ cluster }) => !isCluster || cluster !== undefined);
  describe.each(able)('with $name', (driver) => {
    let open: OpenClient | undefined;

    beforeAll(async () => {
      open = await (isCluster ? driver.cluster?.(port) : driver.single(port));
    });
    afterAll(() => open?.close());

    const client = (): RedisClient => {
      if (open === undefined) throw new Error('the client is opened before the tests');
      return open.client;
    };

    for (const { name, check } of deadLettersConformance)
      test(name, () => check(createRedisDeadLetters(client(), { scope: randomUUID() })));

    const onServer = (scope: string): ScopeOnServer => ({
      deadLetters: createRedisDeadLetters(client(), { scope }),
      store: createRedisStore(client(), { scope }),
    });
    for (const { name, check } of serverDeadLettersConformance) test(name, () => check(onServer));
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
