import { createMemoryStore } from 'posthorn';
import { createEvent } from 'posthorn/testing';
import { describe, expect, test } from 'vitest';
import { deliveryOf } from '../../support/delivery-of.ts';
import { HeldHandler } from '../../support/held-handler.ts';
import { Seen } from '../../support/seen.ts';
import { book, EARLIER_STALL_LIMIT, enqueue, openQueueAt } from './queue-fixture.ts';
import { queueServers } from './queue-servers.ts';

describe.each(queueServers)('a worker of a queue in $name', ({ useServer }) => {
  const server = useServer();

  test('puts a job back uncounted whose event runs elsewhere', async () => {
    const { bull, promote, receiver, reports, worker } = await openQueueAt(server);
    const held = new HeldHandler();
    const running = receiver(book(held.handle));
    await enqueue(running);
    const [job] = await bull.getWaiting();
    const elsewhere = running.dispatch(job?.data, { attempt: 1, final: false });
    const call = await held.calls.nth(1);
    worker(receiver(book(() => {})));
    await reports.first(({ outcome }) => outcome === 'busy');
    await expect.poll(() => bull.getDelayed()).toMatchObject([{ attemptsMade: 0, attemptsStarted: 1 }]);
    call.succeed();
    expect(await elsewhere).toMatchObject({ outcome: 'processed' });
    await promote();
    await reports.first(({ outcome }) => outcome === 'duplicate');
    await expect.poll(() => bull.getJobCountByTypes('active', 'delayed', 'waiting')).toBe(0);
    expect(held.calls.all).toHaveLength(1);
  });

  test('puts a job back uncounted while the store is away', async () => {
    const { bull, promote, receiver, reports, worker } = await openQueueAt(server);
    const handled = new Seen<string>();
    const event = await enqueue(receiver(book(() => {})));
    const store = createMemoryStore();
    let isAway = true;
    const claim: typeof store.claim = (request) => {
      if (isAway) throw new Error('away');
      return store.claim(request);
    };
    worker(
      receiver(
        book(({ id }) => handled.add(id)),
        { store: { ...store, claim } },
      ),
    );
    await reports.first(({ code }) => code === 'store_unavailable');
    await expect.poll(() => bull.getDelayed()).toMatchObject([{ attemptsMade: 0 }]);
    isAway = false;
    await promote();
    expect(await handled.nth(1)).toBe(event.id);
  });

  test('that closes waits for its jobs, and puts those back uncounted that take too long', async () => {
    const { bull, promote, receiver, reports, worker } = await openQueueAt(server);
    const held = new HeldHandler();
    const running = receiver(book(held.handle));
    const first = worker(running, { concurrency: 1 });
    const events = [createEvent('transfer.succeeded'), createEvent('transfer.succeeded')];
    for (const event of events) await running.receive(deliveryOf(event));
    const draining = await held.calls.nth(1);
    const closed = first.close();
    draining.succeed();
    expect(await closed).toEqual({ abandoned: [] });
    expect(await bull.getWaitingCount()).toBe(1);

    const second = worker(running);
    const { context } = await held.calls.nth(2);
    expect(await second.close({ graceMs: 0 })).toEqual({ abandoned: [`event-${events[1]?.id}`] });
    expect(context.signal.aborted).toBe(true);
    expect(await bull.getDelayed()).toMatchObject([{ attemptsMade: 0 }]);
    worker(running);
    await promote();
    const third = await held.calls.nth(3);
    expect(third.context).toMatchObject({ attempt: 1, final: false });
    third.succeed();
    await reports.nth(2, ({ outcome }) => outcome === 'processed');
  });

  test('whose receiver was closed first puts its jobs back', async () => {
    const { bull, receiver, worker } = await openQueueAt(server);
    const closing = receiver(book(() => {}));
    await closing.receive(deliveryOf(createEvent('transfer.succeeded')));
    await closing.close();
    worker(closing);
    await expect.poll(() => bull.getDelayed()).toMatchObject([{ attemptsMade: 0 }]);
  });

  test('without the handler puts the job back uncounted, and one with it runs it', async () => {
    const { bull, promote, receiver, reports, worker } = await openQueueAt(server);
    const handled = new Seen<string>();
    const accepting = receiver(book(({ id }) => handled.add(id)));
    const old = worker(receiver((fresh) => fresh.on('dispute.*', () => {})));
    const event = await enqueue(accepting);
    await reports.first(({ code }) => code === 'handler_missing');
    await expect.poll(() => bull.getDelayed()).toMatchObject([{ attemptsMade: 0 }]);
    await old.close();
    worker(accepting);
    await promote();
    expect(await handled.nth(1)).toBe(event.id);
  });

  test('fails what is not a job, and leaves it among the failed ones', async () => {
    const { bull, letters, receiver, worker } = await openQueueAt(server);
    worker(receiver(book(() => {})));
    await bull.add('garbage', { some: 'thing' }, { attempts: 1 });
    await expect.poll(() => bull.getFailedCount()).toBe(1);
    const [job] = await bull.getFailed();
    expect(job?.failedReason).toMatch(/^job_unreadable: .*rawBody/);
    expect(letters.size).toBe(0);
  });

  test.each([
    { which: 'by a worker of its own', isFailedBefore: false },
    { which: 'before its start', isFailedBefore: true },
  ])(
    'makes a letter of a job that has stalled too often for an earlier release, $which',
    async ({ isFailedBefore }) => {
      const { bull, letters, openFrozenWorker, receiver, stallActive, worker } = await openQueueAt(server);
      const handled = new Seen<string>();
      const running = receiver(book(({ id }) => handled.add(id)));
      const event = await enqueue(running);
      const frozen = openFrozenWorker(10);
      for (let stalls = 1; stalls <= 3; stalls += 1) {
        await expect.poll(() => bull.getActive()).toMatchObject([{ attemptsStarted: stalls }]);
        if (stalls === 3 && !isFailedBefore) await frozen.close(true);
        await stallActive({ maxStalledCount: EARLIER_STALL_LIMIT });
      }
      if (isFailedBefore) {
        await expect.poll(() => bull.getFailedCount()).toBe(1);
        await frozen.close(true);
      }
      worker(running);
      await expect
        .poll(() => letters.get(event.id))
        .toMatchObject({
          reason: 'run_abandoned',
          message: 'job stalled more than allowable limit',
          type: event.type,
        });
      await expect.poll(() => bull.getFailedCount()).toBe(0);
      expect(handled.all).toEqual([]);
      const [letter] = letters.values();
      if (letter !== undefined) expect(await running.replay(letter)).toMatchObject({ outcome: 'processed' });
      expect([handled.all, letters.size]).toEqual([[event.id], 0]);
    },
  );
});
