import { createEvent } from 'posthorn/testing';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { deliveryOf } from '../../support/delivery-of.ts';
import { openClock } from './open-clock.ts';
import { book, enqueue, openQueueAt } from './queue-fixture.ts';
import { queueServers } from './queue-servers.ts';

const MINUTE_MS = 60_000;

describe.each(queueServers)('a worker that lacks the handler of a job in $name', ({ useServer }) => {
  const server = useServer();
  afterEach(() => void vi.restoreAllMocks());

  test('puts it back for an hour, also at its last attempt; then it counts, and is parked', async () => {
    const clock = openClock(server);
    const { bull, letters, promote, receiver, reports, worker } = await openQueueAt(server);
    const event = await enqueue(receiver(book(() => {})));
    const [added] = await bull.getWaiting();
    // Nine attempts have failed in workers that have the handler.
    await server.setCounts(bull.name, String(added?.id), { attempts: 9 });
    worker(receiver((fresh) => fresh.on('dispute.*', () => {})));
    const delays: number[] = [];
    for (const [turn, minutes] of [0, 1, 1, 30, 27].entries()) {
      await clock.advance(minutes * MINUTE_MS);
      await promote();
      await reports.nth(turn + 1, ({ code }) => code === 'handler_missing');
      await expect.poll(() => bull.getDelayed()).toMatchObject([{ attemptsMade: 9 }]);
      delays.push((await bull.getDelayed())[0]?.delay ?? 0);
      expect(letters.size).toBe(0);
    }
    // Half of each pause is random.
    for (const [turn, pauseMs] of [5_000, 60_000, 60_000, 60_000, 60_000].entries()) {
      expect(delays[turn]).toBeGreaterThanOrEqual(pauseMs / 2 - 1);
      expect(delays[turn]).toBeLessThanOrEqual(pauseMs);
    }
    await clock.advance(2 * MINUTE_MS);
    await promote();
    await expect.poll(() => letters.get(event.id)).toMatchObject({ reason: 'handler_missing', attempts: 10 });
    await expect.poll(() => bull.getJobCountByTypes('waiting', 'active', 'delayed', 'failed')).toBe(0);
  });

  test('counts from the earliest clock, and believes none that is ahead', async () => {
    const clock = openClock(server);
    const { bull, promote, receiver, reports, worker } = await openQueueAt(server);
    await receiver(book(() => {})).receive(deliveryOf(createEvent('transfer.succeeded')));
    const [added] = await bull.getWaiting();
    await added?.updateProgress({ handlerMissingSince: Date.now() + 600 * MINUTE_MS });
    worker(receiver((fresh) => fresh.on('dispute.*', () => {})));
    await reports.nth(1, ({ code }) => code === 'handler_missing');
    await expect.poll(() => bull.getDelayed()).toMatchObject([{ attemptsMade: 0 }]);
    await clock.advance(61 * MINUTE_MS);
    await promote();
    // More than one, if the worker came by itself before the job was promoted.
    await expect.poll(async () => (await bull.getDelayed())[0]?.attemptsMade).toBeGreaterThanOrEqual(1);
  });
});
