import { createMemoryStore, createReceiver, type Receiver } from 'posthorn';
import { createBullQueue, createBullWorker, migrateBullQueue } from 'posthorn/bullmq';
import { createPostgresStore, migratePostgres } from 'posthorn/postgres';
import { createEvent } from 'posthorn/testing';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { usePostgres } from '../../stores/postgres/fixture.ts';
import type { PostgresServer } from '../../stores/postgres/servers.ts';
import { send } from '../../stores/redis/deliveries.ts';
import { closedAtEnd } from '../../support/closed-at-end.ts';
import { deliveryOf } from '../../support/delivery-of.ts';
import { HeldHandler } from '../../support/held-handler.ts';
import { ampleDeadlines } from '../../support/limits.ts';
import { Seen } from '../../support/seen.ts';
import { KEY } from '../../support/served.ts';
import { silenced } from '../../support/silenced.ts';
import { until } from '../../support/until.ts';
import { openPostgresProcesses, queuePool } from './postgres-processes.ts';
import { book, enqueue } from './queue-fixture.ts';
import { watchUncaught } from './watch-uncaught.ts';

const OUTAGE_MS = 20_000;
/** The time for which a job waits for PostgreSQL, as a delivery may. */
const ADD_LIMIT_MS = 5_000;
const CLOSE_LIMIT_MS = 5_000;
const DEFAULT_GRACE_MS = 25_000;

describe('while PostgreSQL is away', () => {
  const fixture = usePostgres();
  const print = vi.fn<typeof console.error>();
  beforeEach(() => {
    print.mockClear();
    silenced('error').mockImplementation(print);
  });

  /** A queue on a server, which need not run, and a receiver for it. */
  function open({ port }: PostgresServer, scope: string) {
    const connection = queuePool(fixture, port);
    const options = { backend: 'postgres', connection, scope } as const;
    const queue = closedAtEnd(createBullQueue(options));
    const receiver = (register: (receiver: Receiver) => unknown, store = createMemoryStore()): Receiver => {
      const created = createReceiver({ signingKey: KEY, queue, store, ...ampleDeadlines });
      register(created.observe(() => {}));
      return closedAtEnd(created);
    };
    const worker = (runner: Receiver) => closedAtEnd(createBullWorker(runner, options));
    const countJobs = async (): Promise<number> =>
      (await connection.query('select count(*)::int as count from job where queue = $1', [scope])).rows[0]
        ?.count;
    return { countJobs, queue, receiver, worker };
  }

  async function startServer(): Promise<PostgresServer> {
    const postgres = await fixture.servers.single();
    const pool = fixture.connect({ port: postgres.port });
    await migratePostgres(pool);
    await migrateBullQueue(pool);
    return postgres;
  }

  test('for 20 seconds, deliveries are refused at once after the first 5, and workers go on afterwards', async () => {
    const uncaught = watchUncaught();
    const postgres = await startServer();
    const { countJobs, receiver, worker } = open(postgres, 'outage');
    const held = new HeldHandler();
    const running = receiver(book(held.handle));
    await enqueue(running);
    worker(running);
    const { succeed } = await held.calls.nth(1);
    await postgres.stop('immediate');
    const stoppedAt = performance.now();
    const deliver = async (event: object) => {
      const startedAt = performance.now();
      const { status, body } = await running.receive(deliveryOf(event));
      const { code } = JSON.parse(String(body));
      return { status, code, ms: performance.now() - startedAt };
    };
    // Its end reaches PostgreSQL later.
    succeed();
    const refused = { status: 503, code: 'queue_unavailable' };
    const second = createEvent('transfer.succeeded');
    const waited = await deliver(second);
    expect(waited).toMatchObject(refused);
    // The queue refuses a little earlier, with the reason.
    expect(waited.ms).toBeGreaterThan(0.95 * ADD_LIMIT_MS - 100);
    await until('PostgreSQL has been away for so long', async () => {
      const answer = await deliver(second);
      expect(answer).toMatchObject(refused);
      expect(answer.ms).toBeLessThan(ADD_LIMIT_MS / 2);
      return performance.now() > stoppedAt + OUTAGE_MS;
    });
    await postgres.restart();
    await expect.poll(async () => (await running.receive(deliveryOf(second))).status).toBe(202);
    const next = await held.calls.nth(2);
    expect(next.context).toMatchObject({ attempt: 1, final: false });
    next.succeed();
    await expect.poll(countJobs).toBe(0);
    expect(held.calls.all).toHaveLength(2);
    expect(uncaught).toEqual([]);
  });

  test('deliveries are refused within the time of the store if it is there too', async () => {
    const postgres = await startServer();
    const { receiver } = open(postgres, 'with-store');
    const store = createPostgresStore(fixture.connect({ port: postgres.port }), { scope: 'with-store' });
    const running = receiver(book(), store);
    await postgres.stop('kill');
    const { status, body } = await running.receive(deliveryOf(createEvent('transfer.succeeded')));
    expect(status).toBe(503);
    expect(JSON.parse(String(body))).toMatchObject({ code: 'store_unavailable' });
    await postgres.restart();
    await expect
      .poll(async () => (await running.receive(deliveryOf(createEvent('transfer.succeeded')))).status)
      .toBe(202);
  });

  test.each([{ graceMs: 0 }, {}])('workers and queues close in time: %j', async (options) => {
    const postgres = await startServer();
    const { queue, receiver, worker } = open(postgres, 'closing');
    const held = new HeldHandler();
    const running = receiver(book(held.handle));
    await enqueue(running);
    const closing = worker(running);
    const { context, succeed } = await held.calls.nth(1);
    await postgres.stop('kill');
    const startedAt = performance.now();
    const closed = closing.close(options);
    if (options.graceMs === undefined) succeed();
    await closed;
    const graceMs = options.graceMs ?? DEFAULT_GRACE_MS;
    expect(performance.now() - startedAt).toBeLessThan(graceMs + CLOSE_LIMIT_MS);
    expect(context.signal.aborted).toBe(options.graceMs === 0);
    await queue.close();
    expect(performance.now() - startedAt).toBeLessThan(graceMs + 2 * CLOSE_LIMIT_MS);
  });

  test('a worker in a process of its own that is closed ends by itself: nothing is left', async () => {
    const postgres = await startServer();
    const { start } = await openPostgresProcesses(fixture, { postgres });
    const worker = await start('worker');
    await postgres.stop('kill');
    await worker.line(/posthorn: the worker of /);
    worker.kill('SIGTERM');
    await worker.line(/ closed$/);
    expect(await worker.exit).toBe(0);
  });

  test('a worker in a process of its own whose job has ended ends by itself, too', async () => {
    const postgres = await startServer();
    const { openGate, start } = await openPostgresProcesses(fixture, { postgres });
    const [receiver, worker] = await Promise.all([start('receiver'), start('worker')]);
    expect(await send(receiver.url, createEvent('transfer.succeeded'))).toMatchObject({ status: 202 });
    await worker.line(/ begun /);
    await postgres.stop('kill');
    openGate(worker);
    await worker.line(/ handled /);
    worker.kill('SIGTERM');
    await worker.line(/ closed$/);
    expect(await worker.exit).toBe(0);
  });

  test('a queue and a worker that are created then work once it is there', async () => {
    const postgres = await startServer();
    await postgres.stop('fast');
    const { receiver, worker } = open(postgres, 'early');
    const handled = new Seen<{ id: string; attempt: number }>();
    const running = receiver(book(({ id }, { attempt }) => handled.add({ id, attempt })));
    worker(running);
    const event = createEvent('transfer.succeeded');
    expect(await running.receive(deliveryOf(event))).toMatchObject({ status: 503 });
    await postgres.restart();
    await expect.poll(async () => (await running.receive(deliveryOf(event))).status).toBe(202);
    expect(await handled.nth(1)).toEqual({ id: event.id, attempt: 1 });
  });

  test('a queue and a worker that were never connected close in time', async () => {
    const postgres = await startServer();
    await postgres.stop('fast');
    const { queue, receiver, worker } = open(postgres, 'nowhere');
    const created = worker(receiver(book()));
    await expect.poll(() => print.mock.calls.flat().join()).toMatch(/worker of nowhere: .*ECONNREFUSED/);
    const startedAt = performance.now();
    expect(await created.close({ graceMs: 0 })).toEqual({ abandoned: [] });
    await queue.close();
    expect(performance.now() - startedAt).toBeLessThan(CLOSE_LIMIT_MS);
  });
});
