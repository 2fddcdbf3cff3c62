import { migrateBullQueue } from 'posthorn/bullmq';
import { beforeAll, describe, expect, test } from 'vitest';
import { useDatabase } from '../../stores/postgres/fixture.ts';
import { sentBy } from '../../stores/postgres/watched-pool.ts';
import { HeldHandler } from '../../support/held-handler.ts';
import { until } from '../../support/until.ts';
import { openClock } from './open-clock.ts';
import { postgresQueueServer } from './postgres-queue-server.ts';
import { book, enqueue, openQueueAt } from './queue-fixture.ts';

const HOUR_MS = 3_600_000;

describe.each([HOUR_MS, -HOUR_MS])('a worker on PostgreSQL whose clock is %i ms ahead', (aheadMs) => {
  const database = useDatabase();
  beforeAll(() => migrateBullQueue(database.connect()));
  const server = postgresQueueServer(database);
  const sent = sentBy(server.options.connection);

  /** The milliseconds from now, by the clock of PostgreSQL, until a time of the queue. */
  const untilTime = async (time: string): Promise<number> =>
    Number(await database.sql(`select (${time}) - extract(epoch from clock_timestamp()) * 1000`));
  const ofJob = (scope: string, column: string) =>
    `select ${column} from bullmq.job where queue = '${scope}'`;
  const lookOf = (scope: string) =>
    `select value::bigint from bullmq.meta where queue = '${scope}' and field = 'stalled-check'`;

  test('stores the times of its looks, its locks and what it puts back by the clock of PostgreSQL', async () => {
    const { bull, receiver, reports, scope, worker } = await openQueueAt(server);
    // As a worker of an earlier version leaves it.
    await database.sql(
      `insert into bullmq.meta values ('${scope}', 'stalled-check', '${Date.now() + HOUR_MS}')`,
    );
    const held = new HeldHandler();
    const event = await enqueue(receiver(book(held.handle)));
    await openClock().advance(aheadMs);
    const lacking = worker(receiver((fresh) => fresh.on('dispute.*', () => {})));
    await reports.first(({ code }) => code === 'handler_missing');
    await expect.poll(() => bull.getDelayedCount()).toBe(1);
    await until('it has looked', async () => Math.abs(await untilTime(lookOf(scope))) < 20_000);
    const dueMs = await untilTime(ofJob(scope, 'process_at_ms'));
    await lacking.close();
    worker(receiver(book(held.handle)));
    // The job comes by itself, when it is due.
    const { succeed } = await held.calls.nth(1);
    const lockMs = await untilTime(ofJob(scope, 'locked_until_ms'));
    succeed();
    await expect.poll(() => bull.getJob(`event-${event.id}`)).toBeUndefined();
    // Between the two it slept.
    expect(sent.filter((text) => text.includes('move_to_active(')).length).toBeLessThan(20);
    expect([dueMs, lockMs]).toEqual([expect.closeTo(2_500, -4), expect.closeTo(30_000, -4)]);
  });
});
