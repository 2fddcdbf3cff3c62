import { createMemoryStore } from 'posthorn';
import { createEvent } from 'posthorn/testing';
import { describe, expect, test } from 'vitest';
import { deliveryOf } from '../../support/delivery-of.ts';
import { HeldHandler } from '../../support/held-handler.ts';
import { ampleDeadlines } from '../../support/limits.ts';
import { forwardedClock } from '../../support/monotonic-clock.ts';
import { book, enqueue, openQueueAt } from './queue-fixture.ts';
import { queueServers } from './queue-servers.ts';
import { watchUncaught } from './watch-uncaught.ts';

describe.each(queueServers)('a job in $name that cannot be put back', ({ useServer }) => {
  const server = useServer();

  test('because its lock was lost is left to the queue: it waits, and is handled once', async () => {
    const uncaught = watchUncaught();
    const { bull, receiver, stallActive, worker } = await openQueueAt(server);
    const held = new HeldHandler();
    const running = receiver(book(held.handle));
    const event = await enqueue(running);
    const frozen = worker(running, { concurrency: 1 });
    const { context } = await held.calls.nth(1);
    // The one job that it runs at once keeps it from the one that waits.
    await stallActive();
    expect(await bull.getWaitingCount()).toBe(1);
    expect(await frozen.close({ graceMs: 0 })).toEqual({ abandoned: [`event-${event.id}`] });
    expect(context.signal.aborted).toBe(true);
    expect(await bull.getWaiting()).toMatchObject([{ attemptsMade: 0 }]);
    worker(running);
    const second = await held.calls.nth(2);
    expect(second.context).toMatchObject({ attempt: 1, final: false });
    second.succeed();
    await expect.poll(() => bull.getJobCountByTypes('waiting', 'active', 'delayed', 'failed')).toBe(0);
    expect(uncaught).toEqual([]);
  });

  test('because another worker has it is left to that one', async () => {
    const uncaught = watchUncaught();
    const { bull, receiver, reports, stallActive, worker } = await openQueueAt(server);
    const [lost, held] = [new HeldHandler(), new HeldHandler()];
    const event = createEvent('transfer.succeeded');
    // Stores of their own: the lease does not keep the other worker from the event.
    const first = receiver(book(lost.handle), { store: createMemoryStore() });
    await first.receive(deliveryOf(event));
    const frozen = worker(first, { concurrency: 1 });
    const { context } = await lost.calls.nth(1);
    await stallActive();
    worker(receiver(book(held.handle), { store: createMemoryStore() }));
    const call = await held.calls.nth(1);
    await frozen.close({ graceMs: 0 });
    expect(context.signal.aborted).toBe(true);
    expect(await bull.getActive()).toMatchObject([{ attemptsMade: 0 }]);
    expect(call.context.signal.aborted).toBe(false);
    call.succeed();
    await reports.first(({ outcome }) => outcome === 'processed');
    await expect.poll(() => bull.getJobCountByTypes('waiting', 'active', 'delayed', 'failed')).toBe(0);
    expect([lost.calls.all.length, held.calls.all.length]).toEqual([1, 1]);
    expect(uncaught).toEqual([]);
  });

  test('because its own worker has it again is named when that closes', async () => {
    watchUncaught();
    const { receiver, reports, stallActive, worker } = await openQueueAt(server);
    const held = new HeldHandler();
    const running = receiver(book(held.handle));
    const event = await enqueue(running);
    const frozen = worker(running);
    await held.calls.nth(1);
    await stallActive();
    await reports.first(({ outcome }) => outcome === 'busy');
    expect(await frozen.close({ graceMs: 0 })).toEqual({ abandoned: [`event-${event.id}`] });
  });

  test('because its worker died comes twice again, and then becomes a letter', async () => {
    watchUncaught();
    const forward = forwardedClock();
    const { letters, receiver, scope, worker } = await openQueueAt(server);
    const held = new HeldHandler();
    /** A worker looks for stalled jobs when it starts. */
    const start = async () => {
      await server.allowStalledCheck?.(scope);
      const running = receiver(book(held.handle), { store: createMemoryStore() });
      // Like one that died it takes no other job: it would put this one back, which it still runs.
      worker(running, { concurrency: 1 });
      return running;
    };
    const event = createEvent('transfer.succeeded');
    const first = await start();
    await first.receive(deliveryOf(event));
    for (let workers = 1; workers <= 3; workers += 1) {
      await held.calls.nth(workers);
      expect(letters.size).toBe(0);
      await server.loseLock(scope, `event-${event.id}`);
      await server.markForStalledCheck(scope, `event-${event.id}`);
      await start();
    }
    await expect.poll(() => letters.get(event.id)).toMatchObject({ reason: 'run_abandoned' });
    expect(held.calls.all).toHaveLength(3);
    // It was frozen rather than dead: the lock of a job outlasts the deadline.
    forward(ampleDeadlines.deadlineMs);
    (await held.calls.nth(3)).succeed();
    await expect.poll(() => letters.size).toBe(0);
  });
});
