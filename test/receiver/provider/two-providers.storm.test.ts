import { createPostgresDeadLetters } from 'posthorn/postgres';
import { createRedisDeadLetters } from 'posthorn/redis';
import { describe, expect, test } from 'vitest';
import { runFastClock } from '../../queues/bullmq/fast-clock.ts';
import { openQueue } from '../../queues/bullmq/queue-fixture.ts';
import { usePostgres } from '../../stores/postgres/fixture.ts';
import { useRedis } from '../../stores/redis/fixture.ts';
import { expectSendersApart } from './provider-storm.ts';

const SCOPE = 'two-providers';

describe('two providers with the same ids on one Redis', () => {
  const fixture = useRedis();

  test('with a queue: each event is handled by its own handlers, and none again that was recorded', async () => {
    expect.hasAssertions();
    const { redis } = fixture;
    const opened = await openQueue(fixture, redis, SCOPE);
    await runFastClock(opened, fixture, redis);
    await expectSendersApart({
      env: { REDIS_PORT: String(redis.port), SCOPE },
      deadLetters: createRedisDeadLetters(await fixture.connect(), { scope: SCOPE }),
      isQueueEmpty: async () =>
        (await opened.bull.getJobCountByTypes('waiting', 'active', 'delayed', 'failed')) === 0,
    });
  });
});

describe('two providers with the same ids on one PostgreSQL', () => {
  const fixture = usePostgres();

  test('with an inbox: each event is handled once by each of its own handlers', async () => {
    const pool = fixture.connect();
    // Without a unique index: what is handled twice is there twice.
    await pool.query('create table handled (key text, receiver text, handler text, sender text)');
    const expected = await expectSendersApart({
      env: { POSTGRES_PORT: String(fixture.port), SCOPE },
      deadLetters: createPostgresDeadLetters(pool, { scope: SCOPE }),
    });
    const lines = await fixture.sql("select concat_ws(' ', key, receiver, handler, sender) from handled");
    expect(lines.split('\n').sort()).toEqual(expected.toSorted());
  });
});
