import type { Pool } from 'pg';
import { createReceiver } from 'posthorn';
import { createBullQueue, createBullWorker, migrateBullQueue } from 'posthorn/bullmq';
import { createPostgresStore } from 'posthorn/postgres';
import { createEvent, deliver } from 'posthorn/testing';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { useDatabase } from '../../stores/postgres/fixture.ts';
import { TcpProxy } from '../../stores/redis/tcp-proxy.ts';
import { ampleDeadlines } from '../../support/limits.ts';
import { usePrintedErrors } from '../../support/printed-errors.ts';
import { Seen } from '../../support/seen.ts';
import { KEY, serve } from '../../support/served.ts';
import { until } from '../../support/until.ts';
import { runPostgresClock } from './postgres-clock.ts';
import { stallsOf } from './postgres-processes.ts';

const SEARCH_PATH = '-c search_path=bullmq';

describe('a connection of a queue and its worker that is lost', () => {
  const database = useDatabase();
  const { printed } = usePrintedErrors();
  let scopes = 0;

  beforeAll(() => migrateBullQueue(database.connect()));

  function openQueue(pool: Pool) {
    scopes += 1;
    const options = { backend: 'postgres', connection: pool, scope: `connections-${scopes}` } as const;
    const queue = createBullQueue(options);
    const store = createPostgresStore(database.connect(), { scope: options.scope });
    const receiver = createReceiver({ signingKey: KEY, queue, store, ...ampleDeadlines });
    const handled = new Seen<string>();
    receiver.on('transfer.*', ({ id }) => handled.add(id), { name: 'book', queue: true });
    const worker = createBullWorker(receiver, options);
    const close = async (): Promise<void> => {
      await worker.close();
      await receiver.close();
      await queue.close();
    };
    onTestFinished(close);
    // The job that a lost statement has taken is locked for half a minute.
    const stalls = stallsOf(database.connect({ options: SEARCH_PATH, max: 1 }), options.scope);
    runPostgresClock({ ...stalls, promote: async () => {} });
    return { receiver, handled, worker, close };
  }

  const statements = [
    '.migration',
    'set_config',
    'LISTEN bullmq_jobs',
    'move_to_active',
    'move_to_completed',
  ];
  const cases = statements.flatMap((text) => [2, 10].map((max) => [text, max] as const));
  test.each(cases)(
    'in the middle of "%s" costs neither the process nor a client of %i',
    async (text, max) => {
      const proxy = await TcpProxy.start(database.port);
      proxy.cutAtRequests(text, 3);
      const pool = database.connect({ port: proxy.port, options: SEARCH_PATH, max });
      const { receiver, handled, close } = openQueue(pool);
      const url = await serve(receiver);
      await until('the connection was lost three times, and events are handled', async () => {
        const event = createEvent('transfer.succeeded');
        const { status } = await deliver(url, event, { key: KEY });
        if (status === 202) await handled.first((id) => id === event.id);
        return proxy.cutsLeft === 0;
      });
      expect(printed().length).toBeGreaterThan(0);
      await close();
      await until('the pool has all its clients', async () => pool.idleCount === pool.totalCount);
      await pool.end();
    },
  );

  test('before it was made does not keep close() waiting while nothing runs', async () => {
    const pool = database.connect({ options: SEARCH_PATH, user: 'nobody_has_this_name' });
    const { worker } = openQueue(pool);
    const startedAt = performance.now();
    await worker.close();
    // Its grace is 25 seconds.
    expect(performance.now() - startedAt).toBeLessThan(10_000);
  });
});
