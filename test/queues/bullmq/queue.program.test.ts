import { Worker } from 'bullmq';
import { ConfigurationError, createMemoryStore } from 'posthorn';
import { createBullQueue, createBullWorker } from 'posthorn/bullmq';
import { createEvent } from 'posthorn/testing';
import { describe, expect, test } from 'vitest';
import { useRedis } from '../../stores/redis/fixture.ts';
import { deliveryOf } from '../../support/delivery-of.ts';
import { HeldHandler } from '../../support/held-handler.ts';
import { letterOf } from '../../support/letter-of.ts';
import { eventAt } from '../../support/open-endpoint.ts';
import { Seen } from '../../support/seen.ts';
import { book, EARLIER_STALL_LIMIT, openQueue, PREFIX } from './queue-fixture.ts';

const HOUR_MS = 3_600_000;

describe('a queue of BullMQ', () => {
  const fixture = useRedis();

  test('has an event once, whatever its id looks like, and names its job after the type', async () => {
    const { bull, queue, receiver } = await openQueue(fixture);
    const accepting = receiver(book(() => {}));
    const ids = ['evt_1', '42', 'a:b', 'a:b:c', 'é🙂', ' ', 'x'.repeat(500), 'event-evt_1', '__proto__'];
    for (const id of ids) {
      const delivery = deliveryOf({ ...createEvent('transfer.succeeded'), id });
      expect(await accepting.receive(delivery)).toMatchObject({ status: 202 });
    }
    const jobs = await bull.getWaiting();
    expect(jobs.map(({ data }) => data.id).sort()).toEqual([...ids].sort());
    for (const { name, data, opts } of jobs) {
      expect(name).toBe('transfer.succeeded');
      expect(opts).toMatchObject({ attempts: 10, removeOnComplete: true, removeOnFail: false });
      await queue.add({ ...data, toJSON: () => data });
    }
    expect(await bull.getWaitingCount()).toBe(ids.length);
  });

  test('is away: 503 at once, and again 202 when it is back', async () => {
    const redis = await fixture.servers.single();
    const { queue, receiver } = await openQueue(fixture, redis);
    const accepting = receiver(
      book(() => {}),
      { store: createMemoryStore() },
    );
    const event = createEvent('transfer.succeeded');
    expect(await accepting.receive(deliveryOf(event))).toMatchObject({ status: 202 });
    await redis.kill();
    const young = createEvent('transfer.succeeded');
    await expect
      .poll(async () => {
        const startedAt = performance.now();
        const { status } = await accepting.receive(deliveryOf(young));
        return [status, performance.now() - startedAt < 500];
      })
      .toEqual([503, true]);
    await redis.restart();
    await expect.poll(async () => (await accepting.receive(deliveryOf(young))).status).toBe(202);
    await queue.close();
  });

  test('is full: 503, or parked; never another 2xx', async () => {
    const redis = await fixture.servers.single({ 'maxmemory-policy': 'noeviction' });
    const { bull, deadLetters, receiver } = await openQueue(fixture, redis);
    const accepting = receiver(
      book(() => {}),
      { store: createMemoryStore() },
    );
    await bull.waitUntilReady();
    const warm = deliveryOf(createEvent('transfer.succeeded'));
    expect(await accepting.receive(warm)).toMatchObject({ status: 202 });
    redis.command('config', 'set', 'maxmemory', '1');
    expect(await accepting.receive(deliveryOf(createEvent('transfer.succeeded')))).toMatchObject({
      status: 503,
      body: expect.stringContaining('queue_unavailable'),
    });
    const old = eventAt(Date.now() - HOUR_MS);
    expect(JSON.parse(String((await accepting.receive(deliveryOf(old))).body))).toEqual({
      outcome: 'parked',
      id: old.id,
    });
    expect((await letterOf(deadLetters, old.id)).message).toMatch(/OOM|maxMemoryShare/);
    expect(await bull.getWaitingCount()).toBe(1);
  });
});

describe('a worker of BullMQ', () => {
  const fixture = useRedis();

  test('runs each job once, beside others, and removes it', async () => {
    const { bull, receiver, reports, worker } = await openQueue(fixture);
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

  test('puts a job back uncounted whose event runs elsewhere', async () => {
    const { bull, promote, receiver, reports, worker } = await openQueue(fixture);
    const held = new HeldHandler();
    const running = receiver(book(held.handle));
    const event = createEvent('transfer.succeeded');
    await running.receive(deliveryOf(event));
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
    const { bull, promote, receiver, reports, worker } = await openQueue(fixture);
    const handled = new Seen<string>();
    const event = createEvent('transfer.succeeded');
    await receiver(book(() => {})).receive(deliveryOf(event));
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
    const { bull, promote, receiver, reports, worker } = await openQueue(fixture);
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
    const { bull, receiver, worker } = await openQueue(fixture);
    const closing = receiver(book(() => {}));
    await closing.receive(deliveryOf(createEvent('transfer.succeeded')));
    await closing.close();
    worker(closing);
    await expect.poll(() => bull.getDelayed()).toMatchObject([{ attemptsMade: 0 }]);
  });

  test('without the handler puts the job back uncounted, and one with it runs it', async () => {
    const { bull, promote, receiver, reports, worker } = await openQueue(fixture);
    const handled = new Seen<string>();
    const accepting = receiver(book(({ id }) => handled.add(id)));
    const old = worker(receiver((fresh) => fresh.on('dispute.*', () => {})));
    const event = createEvent('transfer.succeeded');
    await accepting.receive(deliveryOf(event));
    await reports.first(({ code }) => code === 'handler_missing');
    await expect.poll(() => bull.getDelayed()).toMatchObject([{ attemptsMade: 0 }]);
    await old.close();
    worker(accepting);
    await promote();
    expect(await handled.nth(1)).toBe(event.id);
  });

  test('fails what is no job, and leaves it among the failed ones', async () => {
    const { bull, letters, receiver, worker } = await openQueue(fixture);
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
      const { bull, connection, letters, receiver, scope, stallActive, worker } = await openQueue(fixture);
      const handled = new Seen<string>();
      const running = receiver(book(({ id }) => handled.add(id)));
      const event = createEvent('transfer.succeeded');
      await running.receive(deliveryOf(event));
      // It hangs with each job, as one that is frozen.
      const frozen = new Worker(scope, () => new Promise(() => {}), {
        connection,
        prefix: PREFIX,
        concurrency: 10,
        skipStalledCheck: true,
      });
      frozen.on('error', () => {});
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

describe('the options', () => {
  const connection = { host: '127.0.0.1' };
  test.each([
    ['a connection', { scope: 'a' }, /connection of createBull\w+ must be options/],
    ['a scope', { connection }, /scope of createBull\w+ is required/],
    ['a scope without colons', { connection, scope: 'a:b' }, /scope of createBull\w+ is required/],
    ['no other', { connection, scope: 'a', attempts: 1 }, /"attempts" is not an option/],
  ])('are checked: %s', (_what, options, message) => {
    const receiver = { dispatch: () => {}, deadLetters: undefined };
    const calls = [
      (): unknown => Reflect.apply(createBullQueue, undefined, [options]),
      (): unknown => Reflect.apply(createBullWorker, undefined, [receiver, options]),
    ];
    for (const call of calls) {
      expect(call).toThrow(ConfigurationError);
      expect(call).toThrow(message);
    }
  });

  test('are checked: concurrency, and the receiver', () => {
    const options = { connection, scope: 'a' };
    const create =
      (...given: unknown[]) =>
      () =>
        Reflect.apply(createBullWorker, undefined, given);
    expect(create({ dispatch: () => {} }, { ...options, concurrency: 0 })).toThrow(/concurrency/);
    expect(create(options)).toThrow(/^createBullWorker takes a receiver, which createReceiver returns/);
  });
});
