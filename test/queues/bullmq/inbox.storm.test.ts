import { join } from 'node:path';
import type { Pool } from 'pg';
import { createEvent } from 'posthorn/testing';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { usePostgres } from '../../stores/postgres/fixture.ts';
import { bookings, createLedger } from '../../stores/postgres/ledger.ts';
import { useRedis } from '../../stores/redis/fixture.ts';
import { type ChildProgram, packageRoot, startProgram } from '../../support/child-program.ts';
import { deliveryOf } from '../../support/delivery-of.ts';
import { KEY } from '../../support/served.ts';
import { runFastClock } from './fast-clock.ts';
import { book, openQueue } from './queue-fixture.ts';

describe('a worker with an inbox', () => {
  const redis = useRedis();
  const postgres = usePostgres();
  let pool: Pool;
  beforeAll(async () => {
    pool = postgres.connect();
    await createLedger(pool);
  });

  test('that is killed between commit and completion books once', async () => {
    const opened = await openQueue(redis);
    const start = (env: NodeJS.ProcessEnv = {}): ChildProgram => {
      const program = startProgram(
        join(packageRoot, 'test', 'queues', 'bullmq', 'inbox-worker.mjs'),
        {
          PATH: process.env.PATH,
          REDIS_PORT: String(redis.redis.port),
          POSTGRES_URL: postgres.url(),
          SCOPE: opened.scope,
          KEY,
          ...env,
        },
        packageRoot,
      );
      onTestFinished(() => program.kill('SIGKILL'));
      return program;
    };
    const event = createEvent('transfer.succeeded');
    const accepting = opened.receiver(book(() => {}));
    expect(await accepting.receive(deliveryOf(event))).toMatchObject({ status: 202 });
    await start({ DIES: 'yes' }).exit;
    expect(await bookings(pool, event)).toBe(1);
    const other = start();
    await runFastClock(opened, redis, redis.redis);
    await other.line(/^reported processed handled_before$/);
    expect(await bookings(pool, event)).toBe(1);
    await expect.poll(() => opened.bull.getJobCountByTypes('waiting', 'active', 'delayed', 'failed')).toBe(0);
  });
});
