import { migrateBullQueue } from 'posthorn/bullmq';
import { createEvent } from 'posthorn/testing';
import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { useDatabase } from '../../stores/postgres/fixture.ts';
import { deliveryOf } from '../../support/delivery-of.ts';
import { HeldHandler } from '../../support/held-handler.ts';
import { usePrintedErrors } from '../../support/printed-errors.ts';
import { Seen } from '../../support/seen.ts';
import { throwing } from '../../support/throwing.ts';
import { failJobs } from './failed-jobs.ts';
import { postgresQueueServer } from './postgres-queue-server.ts';
import { book, enqueue, openQueueAt } from './queue-fixture.ts';

const TEN_YEARS_MS = 10 * 365 * 86_400_000;
const TIMES = ['added_at_ms', 'process_at_ms', 'processed_at_ms', 'finished_at_ms', 'locked_until_ms'];

describe('a job of a queue in PostgreSQL', () => {
  const database = useDatabase();
  beforeAll(() => migrateBullQueue(database.connect()));
  const server = postgresQueueServer(database);
  const { printed } = usePrintedErrors();
  afterEach(() => void vi.restoreAllMocks());

  /** Moves all times of a queue ten years into the past. */
  async function age(scope: string): Promise<void> {
    const set = TIMES.map((column) => `${column} = ${column} - ${TEN_YEARS_MS}`).join();
    await database.sql(`update bullmq.job set ${set} where queue = '${scope}'`);
    await database.sql(
      `update bullmq.event set created_at_ms = created_at_ms - ${TEN_YEARS_MS} where queue = '${scope}'`,
    );
  }

  /** A failed, a delayed, an active and a waiting job, all of them ten years old. */
  async function openOldJobs() {
    const opened = await openQueueAt(server);
    const { bull, openFrozenWorker, receiver, scope, worker } = opened;
    const failed = await failJobs(opened, 3);
    const handled = new Seen<string>();
    const register = book(({ id }, { attempt }) => {
      if (attempt === 1 && id.startsWith('delayed')) throw new Error('locked');
      handled.add(id);
    });
    const without = receiver(register, { deadLetters: undefined });
    const add = async (name: string): Promise<string> => {
      const event = { ...createEvent('transfer.succeeded'), id: `${name}-of-${scope}` };
      expect(await without.receive(deliveryOf(event))).toMatchObject({ status: 202 });
      return event.id;
    };
    const delayed = await add('delayed');
    const first = worker(without);
    await expect.poll(() => bull.getDelayedCount()).toBe(1);
    await first.close();
    const active = await add('active');
    const frozen = openFrozenWorker(1);
    await expect.poll(() => bull.getActiveCount()).toBe(1);
    await frozen.close(true);
    const open = [active, delayed, await add('waiting')];
    await age(scope);
    return { ...opened, add, failed, handled, open, register, without };
  }

  test('is handled, or stays among the failed ones, however old it is', async () => {
    const { add, bull, failed, handled, letters, open, receiver, register, scope, stallActive, ...opened } =
      await openOldJobs();
    const failedNow = async () => (await bull.getFailed()).map(({ data }) => data.id).toSorted();
    const working = opened.worker(opened.without);
    // The lock of the old one has run out. Those that run now keep theirs, or they would come again later.
    await stallActive({ ids: [] });
    await handled.nth(open.length);
    await expect.poll(() => bull.getJobCountByTypes('waiting', 'active', 'delayed')).toBe(0);
    await working.close();
    expect(handled.all.toSorted()).toEqual(open);
    expect(await failedNow()).toEqual(failed.toSorted());

    // Other jobs come and go, and workers look for stalled ones.
    await age(scope);
    const again = opened.worker(opened.without);
    const last = await add('last');
    await handled.first((id) => id === last);
    await stallActive();
    await again.close();
    expect(await failedNow()).toEqual(failed.toSorted());

    opened.worker(receiver(register));
    await expect.poll(() => bull.getFailedCount()).toBe(0);
    expect([...letters.keys()].toSorted()).toEqual(failed.toSorted());
    expect(handled.all).toHaveLength(open.length + 1);
  });

  test('is gone when it is completed: no table has its body', async () => {
    const { bull, promote, receiver, worker } = await openQueueAt(server);
    const held = new HeldHandler();
    const running = receiver(book(held.handle));
    const event = await enqueue(running);
    const body = Buffer.from(JSON.stringify(event)).toString('base64');
    expect(await tablesWith(body)).toEqual(['job']);
    worker(running);
    (await held.calls.nth(1)).fail(new Error('locked'));
    await expect.poll(() => bull.getDelayedCount()).toBe(1);
    await promote();
    (await held.calls.nth(2)).succeed();
    await expect.poll(() => bull.getJob(`event-${event.id}`)).toBeUndefined();
    expect(await tablesWith(body)).toEqual([]);
    expect(await tablesWith(event.id)).toEqual(['event']);
  });

  /** The tables of queues that have the text in any column of any row. */
  async function tablesWith(text: string): Promise<string[]> {
    const names = await database.sql(
      "select table_name from information_schema.tables where table_schema = 'bullmq' order by 1",
    );
    const found: string[] = [];
    for (const name of names.split('\n')) {
      const where = `where position('${text}' in whole::text) > 0`;
      if ((await database.sql(`select count(*) from bullmq.${name} as whole ${where}`)) !== '0')
        found.push(name);
    }
    return found;
  }

  test.each([0, 0.123456789, 0.5000001, 0.999999999])(
    'is tried again and put back at whole milliseconds, with %d as the random number',
    async (random) => {
      const { bull, promote, receiver, reports, worker } = await openQueueAt(server);
      const failing = receiver(book(throwing('locked')));
      await failing.receive(deliveryOf(createEvent('transfer.succeeded')));
      vi.spyOn(Math, 'random').mockReturnValue(random);
      const first = worker(failing);
      const delay = Math.floor(5_000 + random * 5_000);
      await expect.poll(() => bull.getDelayed()).toMatchObject([{ attemptsMade: 1, delay }]);
      await first.close();
      worker(receiver((fresh) => fresh.on('dispute.*', () => {})));
      await promote();
      await reports.first(({ code }) => code === 'handler_missing');
      await expect.poll(() => bull.getDelayed()).toMatchObject([{ attemptsMade: 1 }]);
      expect(printed()).toEqual([]);
    },
  );
});
