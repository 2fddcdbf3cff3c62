import type { Pool } from 'pg';
import { createReceiver, type Report } from 'posthorn';
import { createBullQueue, createBullWorker, migrateBullQueue } from 'posthorn/bullmq';
import { createEvent } from 'posthorn/testing';
import { describe, expect, onTestFinished, test } from 'vitest';
import { useDatabase } from '../../stores/postgres/fixture.ts';
import { deliveryOf } from '../../support/delivery-of.ts';
import { forwardedClock } from '../../support/monotonic-clock.ts';
import { usePrintedErrors } from '../../support/printed-errors.ts';
import { Seen } from '../../support/seen.ts';
import { KEY } from '../../support/served.ts';
import { QUEUE_PATH } from './postgres-queue-server.ts';
import { book } from './queue-fixture.ts';

const MINUTE_MS = 60_000;
const scope = 'tables';

/** A receiver and a worker whose queue does not find its tables yet. */
function openWithoutTables(pool: Pool) {
  const options = { backend: 'postgres', connection: pool, scope } as const;
  const queue = createBullQueue(options);
  const [reports, handled, looks] = [new Seen<Report>(), new Seen<string>(), new Seen<true>()];
  pool.on('acquire', () => looks.add(true));
  // A short deadline, because a delivery waits for the queue for a fourth of it.
  const receiver = createReceiver({ signingKey: KEY, queue, deadlineMs: 1_000 }).observe(reports.add);
  book(({ id }) => handled.add(id))(receiver);
  const worker = createBullWorker(receiver, options);
  const close = async (): Promise<void> => {
    await worker.close({ graceMs: 0 });
    await receiver.close({ graceMs: 0 });
    await queue.close();
  };
  onTestFinished(close);
  /** Resolves once the queue and the worker have looked for their tables so many times more. */
  const moreLooks = (count: number): Promise<true> => looks.nth(looks.all.length + count);
  const deliver = async (): Promise<number> =>
    (await receiver.receive(deliveryOf(createEvent('transfer.succeeded')))).status;
  return { close, deliver, handled, moreLooks, reports };
}

describe('a queue in PostgreSQL that does not find its tables', () => {
  const { printed } = usePrintedErrors();
  const both = [`posthorn: the queue ${scope}`, `posthorn: the worker of ${scope}`];
  /** The beginnings of the lines. */
  const lines = () =>
    printed()
      .map((line) => line.slice(0, line.indexOf(scope) + scope.length))
      .toSorted();

  describe.each([
    {
      why: 'because the database is not migrated',
      options: { options: QUEUE_PATH },
      message: /the tables of the queue are missing in the schema "bullmq".* migrate --queue/,
      mend: (pool: Pool) => migrateBullQueue(pool),
    },
    {
      why: 'because they are of an older BullMQ',
      options: { options: QUEUE_PATH },
      prepare: async (pool: Pool) => {
        await migrateBullQueue(pool);
        await pool.query('delete from bullmq.migration where version > 9');
      },
      message: /the tables of the queue have version 9, and this BullMQ needs 11: .* migrate --queue/,
      mend: (pool: Pool) =>
        pool.query(
          "insert into bullmq.migration select v, 'made before', 6 from generate_series(10, 11) as v",
        ),
    },
    {
      why: 'because its pool does not search them',
      options: {},
      prepare: migrateBullQueue,
      message: /the pool of the queue must find the schema "bullmq" first, but finds "public" first/,
      mend: (pool: Pool, name: string) => pool.query(`alter database ${name} set search_path = bullmq`),
    },
  ])('$why', ({ options, prepare, message, mend }) => {
    const database = useDatabase();

    test('prints one line a minute, refuses events with the reason, and works once it is mended', async () => {
      const forward = forwardedClock();
      const operator = database.connect();
      await prepare?.(operator);
      const { deliver, handled, moreLooks, reports } = openWithoutTables(database.connect(options));
      // The first deliveries may end by their own time limit.
      await expect
        .poll(async () => {
          expect(await deliver()).toBe(503);
          return reports.all.at(-1)?.error?.message;
        })
        .toMatch(message);
      for (const { code } of reports.all) expect(code).toBe('queue_unavailable');
      await moreLooks(4);
      await expect.poll(lines).toEqual(both);
      for (const line of printed()) expect(line).toMatch(message);
      forward(MINUTE_MS);
      await moreLooks(4);
      await expect.poll(lines).toEqual([...both, ...both].toSorted());

      await mend(operator, database.database);
      await expect.poll(deliver).toBe(202);
      await handled.nth(1);
      expect(lines()).toHaveLength(4);
    });
  });

  describe('and is closed', () => {
    const database = useDatabase();

    test('prints no further line', async () => {
      const { close, moreLooks } = openWithoutTables(database.connect({ options: QUEUE_PATH }));
      await moreLooks(4);
      await expect.poll(lines).toEqual(both);
      await close();
      expect(lines()).toEqual(both);
    });
  });
});
