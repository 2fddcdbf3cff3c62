import { createEvent } from 'posthorn/testing';
import { describe, expect, test } from 'vitest';
import { usePostgres } from '../../stores/postgres/fixture.ts';
import { bookings, useLedger } from '../../stores/postgres/ledger.ts';
import { useRedis } from '../../stores/redis/fixture.ts';
import { deliveryOf } from '../../support/delivery-of.ts';
import { startOwnProgram } from '../../support/own-program.ts';
import { runFastClock } from './fast-clock.ts';
import { book, openQueue } from './queue-fixture.ts';

describe('a worker with an inbox', () => {
  const redis = useRedis();
  const postgres = usePostgres();
  const ledger = useLedger(postgres);

  test('that is killed between commit and completion books once', async () => {
    const opened = await openQueue(redis);
    const start = (env: NodeJS.ProcessEnv = {}) =>
      startOwnProgram('test/queues/bullmq/inbox-worker.mjs', {
        REDIS_PORT: String(redis.redis.port),
        POSTGRES_URL: postgres.url(),
        SCOPE: opened.scope,
        ...env,
      });
    const event = createEvent('transfer.succeeded');
    const accepting = opened.receiver(book(() => {}));
    expect(await accepting.receive(deliveryOf(event))).toMatchObject({ status: 202 });
    await start({ DIES: 'yes' }).exit;
    expect(await bookings(ledger.pool, event)).toBe(1);
    const other = start();
    await runFastClock(opened, redis, redis.redis);
    await other.line(/^reported processed handled_before$/);
    expect(await bookings(ledger.pool, event)).toBe(1);
    await expect.poll(() => opened.bull.getJobCountByTypes('waiting', 'active', 'delayed', 'failed')).toBe(0);
  });
});
