import type { Pool } from 'pg';
import { createReceiver, type Receiver } from 'posthorn';
import { createBullQueue, createBullWorker, migrateBullQueue } from 'posthorn/bullmq';
import { createPostgresStore } from 'posthorn/postgres';
import { createEvent } from 'posthorn/testing';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { useDatabase } from '../../stores/postgres/fixture.ts';
import { startPgBouncer } from '../../stores/postgres/pgbouncer.ts';
import { deliveryOf } from '../../support/delivery-of.ts';
import { ampleDeadlines, ampleTime } from '../../support/limits.ts';
import { Seen } from '../../support/seen.ts';
import { KEY } from '../../support/served.ts';

const BURST = 300;
const SINGLE = 3;
/** A worker looks for jobs once in ten seconds at least; the rest is for a busy machine. */
const WAIT_LIMIT_MS = 15_000;

describe('a queue behind PgBouncer in transaction mode', () => {
  const fixture = useDatabase();
  let pool: Pool;

  beforeAll(async () => {
    await migrateBullQueue(fixture.connect());
    // PgBouncer refuses the startup parameter "options".
    await fixture.sql(`alter role postgres in database ${fixture.database} set search_path = bullmq`);
    const bouncer = await startPgBouncer(fixture.port, 5);
    pool = fixture.connect({ port: bouncer.port });
    return () => bouncer.stop();
  });

  /** A receiver, and two workers of it. */
  function open(scope: string, handle: Parameters<Receiver['on']>[1]) {
    const options = { backend: 'postgres', connection: pool, scope } as const;
    const queue = createBullQueue(options);
    const store = createPostgresStore(pool, { scope, ...ampleTime });
    const receiver = createReceiver({ signingKey: KEY, queue, store, ...ampleDeadlines }).observe(() => {});
    receiver.on('*', handle, { name: 'work', queue: true });
    const workers = [createBullWorker(receiver, options), createBullWorker(receiver, options)];
    onTestFinished(async () => {
      await Promise.all(workers.map((worker) => worker.close({ graceMs: 0 })));
      await receiver.close({ graceMs: 0 });
      await queue.close();
    });
    return receiver;
  }

  test('hands out each job in time, though no notification passes', async () => {
    const handled = new Seen<string>();
    const receiver = open('single', ({ id }) => handled.add(id));
    const waits: number[] = [];
    for (let sent = 1; sent <= SINGLE; sent += 1) {
      const event = createEvent('transfer.succeeded');
      expect(await receiver.receive(deliveryOf(event))).toMatchObject({ status: 202 });
      const sentAt = performance.now();
      expect(await handled.nth(sent)).toBe(event.id);
      waits.push(Math.round(performance.now() - sentAt));
    }
    process.stdout.write(`jobs through PgBouncer waited, in ms: ${waits.join(', ')}\n`);
    expect(Math.max(...waits)).toBeLessThan(WAIT_LIMIT_MS);
  });

  test('hands out each job of a burst once', async () => {
    const handled = new Seen<string>();
    const receiver = open('burst', ({ id }) => handled.add(id));
    const events = Array.from({ length: BURST }, () => createEvent('transfer.succeeded'));
    const answers = await Promise.all(events.map((event) => receiver.receive(deliveryOf(event))));
    expect(answers.filter(({ status }) => status !== 202)).toEqual([]);
    await handled.nth(BURST);
    await expect.poll(() => fixture.sql("select count(*) from bullmq.job where queue = 'burst'")).toBe('0');
    expect(handled.all.toSorted()).toEqual(events.map(({ id }) => id).toSorted());
  });
});
