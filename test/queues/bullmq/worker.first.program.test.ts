import { createEvent } from 'posthorn/testing';
import { describe, expect, test } from 'vitest';
import { deliveryOf } from '../../support/delivery-of.ts';
import { HeldHandler } from '../../support/held-handler.ts';
import { book, openQueueAt } from './queue-fixture.ts';
import { queueServers } from './queue-servers.ts';

describe.each(queueServers)('a worker of a queue in $name', ({ useServer }) => {
  const server = useServer();

  test('runs each job once, beside others, and removes it', async () => {
    const { bull, receiver, reports, worker } = await openQueueAt(server);
    const held = new HeldHandler();
    const running = receiver(book(held.handle));
    const work = [worker(running, { concurrency: 2 }), worker(running, { concurrency: 1 })];
    const events = Array.from({ length: 5 }, () => createEvent('transfer.succeeded'));
    for (const event of events) await running.receive(deliveryOf(event));
    await held.calls.nth(3);
    expect(await bull.getActiveCount()).toBe(3);
    for (let count = 1; count <= 5; count += 1) (await held.calls.nth(count)).succeed();
    await reports.nth(5, ({ outcome }) => outcome === 'processed');
    await expect.poll(() => bull.getJobCountByTypes('waiting', 'active', 'completed')).toBe(0);
    expect(held.calls.all).toHaveLength(5);
    expect(await Promise.all(work.map((one) => one.close()))).toEqual([{ abandoned: [] }, { abandoned: [] }]);
  });
});
