import type { EventData, Receiver, ReceiverOptions, WebhookEvent } from 'posthorn';
import { createEvent } from 'posthorn/testing';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { send } from '../../stores/redis/deliveries.ts';
import { useRedis } from '../../stores/redis/fixture.ts';
import { deliveryOf } from '../../support/delivery-of.ts';
import { HeldHandler } from '../../support/held-handler.ts';
import { readAll } from '../../support/read-all.ts';
import { openProcesses } from './processes.ts';
import { bookByResource, openQueue } from './queue-fixture.ts';

const MINUTE_MS = 60_000;

describe('a job whose key is busy', () => {
  const fixture = useRedis();
  afterEach(() => void vi.restoreAllMocks());

  const registerHeld = (receiver: Receiver, held: HeldHandler): unknown =>
    bookByResource(held.handle)(receiver);
  const eventOf = (id: string): WebhookEvent<'transfer.succeeded', EventData> =>
    createEvent('transfer.succeeded', { id });

  interface BusyOptions extends Pick<ReceiverOptions, 'deadLetters'> {
    readonly concurrency?: number;
    /** Registers the handlers; by default only the one that has keys. */
    readonly register?: (receiver: Receiver, held: HeldHandler) => unknown;
  }

  /** A worker of which a job of the key "a" lasts until the test ends it, and another job of that key. */
  async function openBusy({ concurrency = 10, register = registerHeld, ...options }: BusyOptions = {}) {
    const opened = await openQueue(fixture);
    const { bull, keyOf, promote, receiver, reports, worker } = opened;
    const held = new HeldHandler();
    const running = receiver((fresh) => register(fresh, held), options);
    worker(running, { concurrency });
    const first = eventOf('a');
    await running.receive(deliveryOf(first));
    const { succeed } = await held.calls.nth(1);
    const event = eventOf('a');
    const jobId = `event-${event.id}`;
    /** Adds the other job; `attemptsMade` of its attempts have failed. */
    const add = async (attemptsMade = 0): Promise<void> => {
      await bull.pause();
      await running.receive(deliveryOf(event));
      const redis = await fixture.connect();
      if (attemptsMade > 0) await redis.hset(keyOf(jobId), 'atm', attemptsMade);
      await bull.resume();
    };
    /** Resolves with the job once it was put back for the nth time. */
    const putBack = async (count: number) => {
      await reports.nth(count, ({ code }) => code === 'key_busy');
      await expect.poll(() => bull.getDelayedCount()).toBe(1);
      return (await bull.getDelayed())[0];
    };
    const isEmpty = (): Promise<number> => bull.getJobCountByTypes('waiting', 'active', 'delayed', 'failed');
    return { ...opened, add, event, held, isEmpty, jobId, promote, putBack, running, succeed };
  }

  /** The clock of this process, with its workers. */
  function openClock() {
    const real = Date.now;
    let aheadMs = 0;
    vi.spyOn(Date, 'now').mockImplementation(() => real() + aheadMs);
    const advance = (ms: number): void => {
      aheadMs += ms;
    };
    return { advance };
  }

  test('is put back, does not count an attempt, and is handled once the key is free', async () => {
    const { add, held, isEmpty, promote, putBack, succeed } = await openBusy();
    await add();
    expect(await putBack(1)).toMatchObject({ attemptsMade: 0 });
    await promote();
    expect(await putBack(2)).toMatchObject({ attemptsMade: 0 });
    succeed();
    await expect
      .poll(async () => {
        await promote();
        return held.calls.all.length;
      })
      .toBe(2);
    const { context, succeed: end } = await held.calls.nth(2);
    expect(context).toMatchObject({ attempt: 1, final: false });
    end();
    await expect.poll(isEmpty).toBe(0);
  });

  test('is put back for an hour, also at its last attempt; then it counts, and is parked', async () => {
    const clock = openClock();
    const { add, event, letters, promote, putBack } = await openBusy();
    await add(9);
    const delays: number[] = [];
    for (const [turn, minutes] of [0, 1, 1, 28, 29].entries()) {
      clock.advance(minutes * MINUTE_MS);
      if (turn > 0) await promote();
      const job = await putBack(turn + 1);
      expect(job).toMatchObject({ attemptsMade: 9 });
      delays.push(job?.delay ?? 0);
      // Its dead letter was stored before the run, and is not parked.
      expect(letters.get(event.id)).toMatchObject({ reason: 'run_abandoned' });
    }
    // A tenth of the time for which the key was busy; half of each pause is random.
    for (const [turn, pauseMs] of [5_000, 6_000, 12_000, 60_000, 60_000].entries()) {
      expect(delays[turn]).toBeGreaterThanOrEqual(pauseMs / 2 - 1);
      expect(delays[turn]).toBeLessThanOrEqual(pauseMs * 1.1);
    }
    clock.advance(2 * MINUTE_MS);
    await promote();
    await expect
      .poll(() => letters.get(event.id))
      .toMatchObject({ reason: 'key_busy', attempts: 10, runningUntil: undefined });
  });

  test('counts an attempt after an hour, and from the beginning once the key was free', async () => {
    const clock = openClock();
    const { add, bull, held, jobId, promote, putBack, succeed, running } = await openBusy();
    await add();
    await putBack(1);
    clock.advance(61 * MINUTE_MS);
    await promote();
    expect(await putBack(2)).toMatchObject({ attemptsMade: 1 });
    succeed();
    await expect
      .poll(async () => {
        await promote();
        return held.calls.all.length;
      })
      .toBe(2);
    held.calls.all[1]?.fail(new Error('locked'));
    await expect.poll(() => bull.getJob(jobId)).toMatchObject({ attemptsMade: 2, progress: {} });
    // Another event has the key again.
    await running.receive(deliveryOf(eventOf('a')));
    await held.calls.nth(3);
    await promote();
    expect(await putBack(3)).toMatchObject({ attemptsMade: 2 });
    held.calls.all[2]?.succeed();
  });

  test('counts an attempt if another handler of its event fails', async () => {
    const { add, bull, jobId, reports, succeed } = await openBusy({
      register: (receiver, held) => {
        bookByResource(held.handle)(receiver);
        receiver
          .on('transfer.*', () => {}, { name: 'log', queue: true })
          .on('transfer.*', () => Promise.reject(new Error('locked')), { name: 'mail', queue: true });
      },
    });
    await add();
    await reports.nth(1, ({ code }) => code === 'handler_failed');
    await expect.poll(() => bull.getJob(jobId)).toMatchObject({ attemptsMade: 1 });
    expect((await bull.getJob(jobId))?.failedReason).toContain('locked');
    succeed();
  });

  test('does not run again the handlers that had finished', async () => {
    const runs: string[] = [];
    const { add, held, isEmpty, promote, putBack, succeed } = await openBusy({
      register: (receiver, handler) => {
        bookByResource(handler.handle)(receiver);
        receiver.on('transfer.*', ({ id }) => runs.push(id), { name: 'log', queue: true });
      },
    });
    await add();
    await putBack(1);
    succeed();
    await expect
      .poll(async () => {
        await promote();
        return held.calls.all.length;
      })
      .toBe(2);
    held.calls.all[1]?.succeed();
    await expect.poll(isEmpty).toBe(0);
    expect(runs).toHaveLength(2);
  });

  test('at its last attempt is not among the dead letters that wait, and cannot be replayed', async () => {
    const { add, deadLetters, event, putBack, receiver } = await openBusy();
    await add(9);
    await putBack(1);
    const [letter] = await readAll(deadLetters.list());
    expect(letter).toMatchObject({ id: event.id });
    const operator = receiver(bookByResource(() => {}));
    expect((await operator.health()).deadLetters).toMatchObject({ waiting: 0 });
    expect(letter && (await operator.replay(letter))).toMatchObject({ outcome: 'busy' });
  });

  test('stays a suspect, because it has not run', async () => {
    const {
      bull,
      connection,
      isEmpty,
      jobId,
      promote,
      putBack,
      receiver,
      held,
      keyOf,
      add,
      succeed,
      worker,
    } = await openBusy({ concurrency: 1 });
    await add();
    const redis = await fixture.connect({ port: connection.port });
    await redis.hset(keyOf(jobId), 'stc', 1);
    worker(receiver(bookByResource(held.handle)));
    const suspicion = { stalls: 1, limit: 5, aloneDeaths: 0 };
    expect(await putBack(1)).toMatchObject({ progress: { suspicion, keyBusySince: expect.any(Number) } });
    succeed();
    await promote();
    (await held.calls.nth(2)).succeed();
    await expect.poll(isEmpty).toBe(0);
    expect(await bull.getJob(jobId)).toBeUndefined();
  });

  test('becomes a dead letter from the failed jobs if it could not be parked', async () => {
    const { add, bull, deadLetters, event, isEmpty, jobId, receiver, succeed, worker } = await openBusy({
      deadLetters: undefined,
      concurrency: 1,
    });
    await add(9);
    const job = await bull.getJob(jobId);
    await job?.updateProgress({ keyBusySince: Date.now() - 61 * MINUTE_MS });
    const without = worker(
      receiver(
        bookByResource(() => {}),
        { deadLetters: undefined },
      ),
    );
    await expect.poll(() => bull.getFailedCount()).toBe(1);
    await without.close();
    worker(receiver(bookByResource(() => {})));
    await expect
      .poll(() => deadLetters.get(event.id))
      .toMatchObject({
        reason: 'key_busy',
        attempts: 10,
        message: expect.stringMatching(/^the handler "book"/),
      });
    succeed();
    await expect.poll(isEmpty).toBe(0);
  });

  test('runs at once after the worker that had the key was closed', async () => {
    const { bull, promote, receiver, reports, worker } = await openQueue(fixture);
    const held = new HeldHandler();
    const register = bookByResource((event, context) => {
      const aborted = new Promise((_resolve, reject) => {
        context.signal.addEventListener('abort', () => reject(context.signal.reason));
      });
      return Promise.race([held.handle(event, context), aborted]);
    });
    const running = receiver(register);
    const closing = worker(running);
    const first = eventOf('a');
    await running.receive(deliveryOf(first));
    await held.calls.nth(1);
    expect(await closing.close({ graceMs: 0 })).toEqual({ abandoned: [`event-${first.id}`] });
    await promote();
    worker(receiver(register));
    (await held.calls.nth(2)).succeed();
    await running.receive(deliveryOf(eventOf('a')));
    (await held.calls.nth(3)).succeed();
    await expect.poll(() => bull.getJobCountByTypes('waiting', 'active', 'delayed', 'failed')).toBe(0);
    expect(reports.all.filter(({ code }) => code === 'key_busy')).toHaveLength(0);
  });

  test('is handled after the worker that had the key was killed, and so is the event of that worker', async () => {
    const options = { leaseMs: 3_000, isKeyed: true };
    const { bull, handledBy, openGate, promote, stallActive, start } = await openProcesses(fixture, options);
    const [server, dying] = await Promise.all([start('receiver'), start('worker')]);
    const [first, second] = [eventOf('a'), eventOf('a')];
    expect(await send(server.url, first)).toMatchObject({ status: 202 });
    await dying.line(/ begun /);
    const other = await start('worker');
    openGate(other);
    dying.kill('SIGSTOP');
    expect(await send(server.url, second)).toMatchObject({ status: 202 });
    await other.line(new RegExp(`reported ${second.id} busy key_busy`));
    dying.kill('SIGKILL');
    await dying.exit;
    await stallActive();
    await expect
      .poll(async () => {
        await promote();
        return [...handledBy(first.id), ...handledBy(second.id)];
      })
      .toEqual([other.pid, other.pid]);
    await expect.poll(() => bull.getJobCountByTypes('waiting', 'active', 'delayed', 'failed')).toBe(0);
  });
});
