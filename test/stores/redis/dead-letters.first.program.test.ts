import { randomUUID } from 'node:crypto';
import { createRedisDeadLetters } from 'posthorn/redis';
import { describe, expect, test } from 'vitest';
import { ampleTime } from '../../support/limits.ts';
import { readAll } from '../../support/read-all.ts';
import { createLetter } from '../kit/conformance.ts';
import { describeDeadLetters } from './conformance.ts';
import { ioredis6 } from './drivers.ts';
import { useRedis } from './fixture.ts';

describe('in a single Redis', () => {
  const fixture = useRedis();

  describeDeadLetters('dead letters with ioredis 6', () => ioredis6.single(fixture.redis.port));
});

describe('dead letters in a Redis', () => {
  const fixture = useRedis();

  test('that has no memory left can still be removed', async () => {
    const { put, list, remove } = createRedisDeadLetters(await fixture.connect(), {
      scope: randomUUID(),
      ...ampleTime,
    });
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
