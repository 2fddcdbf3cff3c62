import type { Pool } from 'pg';
import { createReceiver, type Receiver } from 'posthorn';
import { createBullQueue, createBullWorker, migrateBullQueue } from 'posthorn/bullmq';
import { createPostgresStore } from 'posthorn/postgres';
import { createEvent } from 'posthorn/testing';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { useDatabase } from '../../stores/postgres/fixture.ts';
import { startPgBouncer } from '../../stores/postgres/pgbouncer.ts';
import { closedAtEnd } from '../../support/closed-at-end.ts';
import { deliveryOf } from '../../support/delivery-of.ts';
import { ampleDeadlines, ampleTime } from '../../support/limits.ts';
import { Seen } from '../../support/seen.ts';
import { KEY } from '../../support/served.ts';
import { until } from '../../support/until.ts';

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

  /** A receiver, and what starts two workers of it. */
  function open(scope: string, handle: Parameters<Receiver['on']>[1]) {
    const options = { backend: 'postgres', connection: pool, scope } as const;
    const queue = createBullQueue(options);
    const store = createPostgresStore(pool, { scope, ...ampleTime });
    const receiver = createReceiver({ signingKey: KEY, queue, store, ...ampleDeadlines }).observe(() => {});
    receiver.on('*', handle, { name: 'work', queue: true });
    onTestFinished(async () => {
      await receiver.close({ graceMs: 0 });
      await queue.close();
    });
    const startWorkers = (): void => {
      for (let started = 0; started < 2; started += 1) closedAtEnd(createBullWorker(receiver, options));
    };
    return { receiver, startWorkers };
  }

  /** True if no statement has come for a second. */
  const areWaiting = async (): Promise<boolean> => {
    const isQuiet = await fixture.sql(
      "select now() - max(query_start) > '1 second' from pg_stat_activity " +
        'where datname = current_database() and pid <> pg_backend_pid()',
    );
    return isQuiet === 't';
  };

  test('hands out each job in time, though no notification passes', async () => {
    const handled = new Seen<string>();
    const { receiver, startWorkers } = open('single', ({ id }) => handled.add(id));
    // A worker that relied on notifications would not look before a delayed job is due.
    await receiver.receive(deliveryOf(createEvent('transfer.succeeded')));
    await fixture.sql(
      "update bullmq.job set state = 'delayed', process_at_ms = added_at_ms + 3600000 where queue = 'single'",
    );
    startWorkers();
    const waits: number[] = [];
    for (let sent = 1; sent <= SINGLE; sent += 1) {
      await until('the workers wait for a job', areWaiting);
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
    const { receiver, startWorkers } = open('burst', ({ id }) => handled.add(id));
    startWorkers();
    const events = Array.from({ length: BURST }, () => createEvent('transfer.succeeded'));
    const answers = await Promise.all(events.map((event) => receiver.receive(deliveryOf(event))));
    expect(answers.filter(({ status }) => status !== 202)).toEqual([]);
    await handled.nth(BURST);
    await expect.poll(() => fixture.sql("select count(*) from bullmq.job where queue = 'burst'")).toBe('0');
    expect(handled.all.toSorted()).toEqual(events.map(({ id }) => id).toSorted());
  });
});
