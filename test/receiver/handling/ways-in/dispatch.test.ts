import { getEventListeners } from 'node:events';
import {
  createMemoryStore,
  createReceiver,
  type HandlerContext,
  PermanentError,
  type Receiver,
  type ReceiverOptions,
  type Report,
  type Store,
} from 'posthorn';
import { createEvent } from 'posthorn/testing';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createLetter } from '../../../stores/kit/conformance.ts';
import { deliveryOf } from '../../../support/delivery-of.ts';
import { HeldHandler } from '../../../support/held-handler.ts';
import { letterOf } from '../../../support/letter-of.ts';
import { createMapDeadLetters } from '../../../support/map-dead-letters.ts';
import { Seen } from '../../../support/seen.ts';
import { KEY } from '../../../support/served.ts';
import { StepClock } from '../../../support/step-clock.ts';
import { throwing } from '../../../support/throwing.ts';
import { until } from '../../../support/until.ts';
import { ListQueue } from '../../queue/list-queue.ts';
import { slowLetters } from '../letters/slow-letters.ts';

const event = createEvent('transfer.succeeded');
const DAY_MS = 86_400_000;

/** Receivers of several processes that share a queue, a store and dead letters, and a clock. */
function openProcesses() {
  const clock = new StepClock();
  const now = { ...event, created_at: new Date(clock.startedAt).toISOString() };
  const queue = new ListQueue();
  const deadLetters = createMapDeadLetters();
  const store = createMemoryStore({ now: clock.now });
  const shared = { signingKey: KEY, queue, deadLetters, store, now: clock.now };
  const reports: Report[] = [];
  const start = (
    register: (receiver: Receiver) => unknown,
    options: Partial<ReceiverOptions<Record<never, never>>> = {},
  ): Receiver => {
    const receiver = createReceiver({ ...shared, ...options }).observe((report) => reports.push(report));
    register(receiver);
    onTestFinished(async () => void (await receiver.close({ graceMs: 0 })));
    return receiver;
  };
  /** The job of one event, as it comes out of the queue. */
  const jobOf = async (receiver: Receiver): Promise<unknown> => {
    expect(await receiver.receive(deliveryOf(now))).toMatchObject({ status: 202 });
    return queue.take();
  };
  return { clock, deadLetters, event: now, jobOf, queue, reports, start, store };
}

function book(handle: (context: HandlerContext) => unknown = () => {}) {
  return (receiver: Receiver): unknown =>
    receiver.on('transfer.*', (_event, context) => handle(context), { name: 'book', queue: true });
}

describe('a worker', () => {
  test('runs the queued handlers with the context of its attempt, and completes the id', async () => {
    const { clock, jobOf, start, reports } = openProcesses();
    const seen: unknown[] = [];
    const all = (receiver: Receiver): void => {
      receiver.on('transfer.*', () => seen.push('inline'));
      book(({ attempt, final, signal, deadlineAt, receivedAt, rawBody }) => {
        const body = JSON.parse(Buffer.from(rawBody).toString());
        seen.push({ attempt, final, aborted: signal.aborted, deadlineAt, receivedAt, id: body.id });
      })(receiver);
    };
    const job = await jobOf(start(all));
    clock.step(1_000);
    const worker = start(all);
    expect(await worker.dispatch(job, { attempt: 3, final: false })).toMatchObject({
      outcome: 'processed',
      status: 200,
      attempt: 3,
      final: false,
      answerSent: false,
      endpointAtRisk: false,
      handlers: [{ name: 'book', ok: true }],
    });
    expect(await worker.dispatch(job, { attempt: 4, final: true })).toMatchObject({ outcome: 'duplicate' });
    const { startedAt } = clock;
    expect(seen).toEqual([
      'inline',
      {
        attempt: 3,
        final: false,
        aborted: false,
        deadlineAt: startedAt + 1_000 + 240_000,
        receivedAt: startedAt,
        id: event.id,
      },
    ]);
    expect(reports.map(({ outcome }) => outcome)).toEqual(['queued', 'processed', 'duplicate']);
  });

  test('neither refuses nor parks a backlog that is older than the schedule and maxEventAgeMs', async () => {
    const { clock, deadLetters, jobOf, start } = openProcesses();
    const finals: boolean[] = [];
    const worker = start(
      book(({ final }) => {
        finals.push(final);
        if (finals.length === 1) throw new Error('locked');
      }),
    );
    const job = await jobOf(worker);
    clock.step(3 * DAY_MS);
    const failed = await worker.dispatch(job, { attempt: 1, final: false });
    expect(failed).toMatchObject({ outcome: 'failed', code: 'handler_failed', endpointAtRisk: false });
    expect(await deadLetters.get(event.id)).toBeUndefined();
    expect(await worker.dispatch(job, { attempt: 2, final: false })).toMatchObject({ outcome: 'processed' });
    expect(finals).toEqual([false, false]);
  });

  test('stores the letter before the last attempt, and takes it out when that succeeds', async () => {
    const { deadLetters, jobOf, start } = openProcesses();
    const seen: unknown[] = [];
    const worker = start(
      book(async ({ final }) => {
        seen.push(final, (await deadLetters.get(event.id))?.runningUntil !== undefined);
      }),
    );
    const job = await jobOf(worker);
    expect(await worker.dispatch(job, { attempt: 5, final: true })).toMatchObject({ outcome: 'processed' });
    expect(seen).toEqual([true, true]);
    expect(await deadLetters.get(event.id)).toBeUndefined();
  });

  test('does not take a letter for stored that was never written', async () => {
    const { deadLetters, jobOf, start } = openProcesses();
    const full = { ...deadLetters, put: () => Promise.reject(new Error('full')) };
    const job = await jobOf(start(book()));
    const worker = start(
      book(() => Promise.reject(new Error('poison'))),
      { deadLetters: full },
    );
    // The process that enqueued it may have begun to write its letter.
    const parked = Object.assign(Object(job), { isParked: true });
    expect(await worker.dispatch(parked, { attempt: 10, final: true })).toMatchObject({ outcome: 'failed' });
  });

  test('parks poison at its last attempt; the letter is replayed after the fix, and gone', async () => {
    const { clock, deadLetters, jobOf, queue, start, event: sent } = openProcesses();
    const runs: string[] = [];
    let isMended = false;
    const worker = start((receiver) => {
      receiver.on('transfer.*', () => runs.push('log'), { name: 'log' });
      book(() => {
        runs.push('book');
        if (!isMended) throw new Error('poison');
      })(receiver);
    });
    const job = await jobOf(worker);
    expect(await worker.dispatch(job, { attempt: 2, final: true })).toMatchObject({
      outcome: 'parked',
      code: 'handler_failed',
    });
    const letter = await letterOf(deadLetters, event.id);
    expect(letter).toMatchObject({ attempts: 2, handled: ['log'], runningUntil: undefined });
    isMended = true;
    expect(await worker.replay(letter)).toMatchObject({ outcome: 'processed' });
    expect(await deadLetters.get(event.id)).toBeUndefined();
    expect(runs).toEqual(['log', 'book', 'book']);
    clock.step(1_000);
    expect(await worker.receive(deliveryOf(sent))).toMatchObject({ status: 200 });
    expect(queue.calls).toBe(1);
  });

  test('parks a PermanentError at once', async () => {
    const { deadLetters, jobOf, start } = openProcesses();
    const worker = start(book(throwing(new PermanentError('no such account'))));
    expect(await worker.dispatch(await jobOf(worker), { attempt: 1, final: false })).toMatchObject({
      outcome: 'parked',
    });
    expect(await letterOf(deadLetters, event.id)).toMatchObject({ reason: 'handler_failed_permanently' });
  });

  test.each([
    ['no handler of the type', (receiver: Receiver) => receiver.on('dispute.*', () => {})],
    [
      'only another one',
      (receiver: Receiver) => receiver.on('transfer.*', () => {}, { name: 'mail', queue: true }),
    ],
  ])('fails a job for which it has %s, and parks it at the last attempt', async (_what, register) => {
    const { deadLetters, jobOf, start } = openProcesses();
    const job = await jobOf(start(book()));
    const old = start(register);
    expect(await old.dispatch(job, { attempt: 1, final: false })).toMatchObject({
      outcome: 'failed',
      code: 'handler_missing',
      event: { id: event.id },
      error: { message: expect.stringContaining('lacks "book" for transfer.') },
    });
    const comesAgain = { attempt: 2, final: true, parksMissing: false };
    expect(await old.dispatch(job, comesAgain)).toMatchObject({ code: 'handler_missing', warnings: [] });
    expect(await deadLetters.get(event.id)).toBeUndefined();
    expect(await old.dispatch(job, { attempt: 2, final: true })).toMatchObject({ outcome: 'parked' });
    expect(await letterOf(deadLetters, event.id)).toMatchObject({ reason: 'handler_missing', attempts: 2 });
    const young = start(book());
    expect(await young.dispatch(job, { attempt: 3, final: false })).toMatchObject({ outcome: 'processed' });
  });

  test('parks an event at the last attempt if a process has died with it, or runs it if the queue judges that', async () => {
    const { clock, event, jobOf, start, store } = openProcesses();
    const runs: string[] = [];
    const job = await jobOf(start(book()));
    await store.claim({ id: event.id, token: 'of a process that died', leaseMs: 1_000, retentionMs: DAY_MS });
    clock.step(2_000);
    const worker = start(book(() => runs.push('run')));
    expect(await worker.dispatch(job, { attempt: 10, final: true })).toMatchObject({ outcome: 'parked' });
    expect(runs).toEqual([]);
    const judged = { attempt: 10, final: true, parksAbandoned: false };
    expect(await worker.dispatch(job, judged)).toMatchObject({ outcome: 'processed' });
    expect(runs).toEqual(['run']);
  });

  test('tells each handler that finishes while others run, and runs none that was told before', async () => {
    const { jobOf, start } = openProcesses();
    const held = new HeldHandler();
    const runs: string[] = [];
    const register = (fresh: Receiver): unknown =>
      fresh
        .on('transfer.*', () => runs.push('log'), { name: 'log', queue: true })
        .on('transfer.*', () => Promise.reject(new Error('locked')), { name: 'fail', queue: true })
        .on('transfer.*', held.handle, { name: 'book', queue: true })
        .on('transfer.*', held.handle, { name: 'mail', queue: true });
    const dying = start(register, { store: createMemoryStore() });
    const job = await jobOf(dying);
    const told: (readonly string[])[] = [];
    const onHandled = (names: readonly string[]): void => void told.push(names);
    const running = dying.dispatch(job, { attempt: 1, final: false, onHandled });
    await held.calls.nth(2);
    await until('the first is told', () => told.length === 1);
    held.calls.all[0]?.succeed();
    await until('the second is told', () => told.length === 2);
    held.calls.all[1]?.succeed();
    expect(await running).toMatchObject({ outcome: 'failed' });
    expect(told).toEqual([['log'], ['log', 'book']]);
    const next = start(register, { store: createMemoryStore() });
    const again = next.dispatch(job, { attempt: 1, final: false, handled: told[1] ?? [], onHandled });
    (await held.calls.nth(3)).succeed();
    expect((await again).handlers.map(({ name }) => name).toSorted()).toEqual(['fail', 'mail']);
    expect(runs).toEqual(['log']);
  });

  test.each([
    () => {
      throw new Error('no notes');
    },
    () => Promise.reject(new Error('no notes')),
  ])('goes on if what is told of finished handlers fails: %s', async (onHandled) => {
    const { jobOf, start } = openProcesses();
    const held = new HeldHandler();
    const worker = start((fresh) =>
      fresh
        .on('transfer.*', () => {}, { name: 'log', queue: true })
        .on('transfer.*', held.handle, { name: 'book', queue: true }),
    );
    const job = await jobOf(worker);
    const told = new Seen<unknown>();
    const running = worker.dispatch(job, {
      attempt: 1,
      final: false,
      onHandled: (names) => {
        told.add(names);
        return onHandled();
      },
    });
    await told.nth(1);
    (await held.calls.nth(1)).succeed();
    expect(await running).toMatchObject({ outcome: 'processed' });
  });

  describe('of a job that its queue has given up', () => {
    const failure = { code: 'handler_failed', message: 'the bank is away' } as const;
    const given = { attempt: 10, final: true, failure };

    test('parks the event, with what has finished, also without a handler of it', async () => {
      const { deadLetters, event: sent, jobOf, start, store } = openProcesses();
      const job = await jobOf(start(book()));
      const claim = { id: event.id, token: 'of the last attempt', retentionMs: DAY_MS };
      await store.claim({ ...claim, leaseMs: 1_000 });
      await store.release({ ...claim, handled: ['mail'] });
      const sweeping = start((receiver) => receiver.on('dispute.*', () => {}));
      expect(await sweeping.dispatch(job, given)).toMatchObject({
        outcome: 'parked',
        code: 'handler_failed',
        error: { message: failure.message },
      });
      const letter = await letterOf(deadLetters, event.id);
      expect(letter).toMatchObject({ attempts: 10, handled: ['mail'], reason: failure.code });
      expect(letter).toMatchObject({ message: failure.message, rawBody: Buffer.from(JSON.stringify(sent)) });
      // The id is free again.
      const runs: string[] = [];
      const mended = start(book(() => runs.push('book')));
      expect(await mended.replay(letter)).toMatchObject({ outcome: 'processed' });
      expect(runs).toEqual(['book']);
    });

    test('removes the letter of an event that was handled', async () => {
      const { deadLetters, jobOf, start } = openProcesses();
      const worker = start(book());
      const job = await jobOf(worker);
      expect(await worker.dispatch(job, { attempt: 1, final: false })).toMatchObject({
        outcome: 'processed',
      });
      await deadLetters.put(createLetter({ id: event.id }));
      expect(await worker.dispatch(job, given)).toMatchObject({ outcome: 'duplicate' });
      expect(await deadLetters.get(event.id)).toBeUndefined();
    });

    test('leaves an event alone that this process runs without a claim', async () => {
      const { deadLetters, jobOf, start, store } = openProcesses();
      const held = new HeldHandler();
      let isAway = false;
      const claim: Store['claim'] = (request) => {
        if (isAway) throw new Error('away');
        return store.claim(request);
      };
      const worker = start((fresh) => fresh.on('transfer.*', held.handle, { name: 'book', queue: true }), {
        store: { ...store, claim },
        onStoreFailure: 'process',
      });
      const job = await jobOf(worker);
      isAway = true;
      const running = worker.dispatch(job, { attempt: 1, final: false });
      const { succeed } = await held.calls.nth(1);
      isAway = false;
      expect(await worker.dispatch(job, given)).toMatchObject({ outcome: 'busy' });
      expect(await deadLetters.get(event.id)).toBeUndefined();
      succeed();
      expect(await running).toMatchObject({ outcome: 'processed' });
    });

    test('frees an event that the store has claimed without an answer', async () => {
      const { jobOf, start, store } = openProcesses();
      const job = await jobOf(start(book()));
      const claim: Store['claim'] = async (request) => {
        await store.claim(request);
        throw new Error('the answer is lost');
      };
      const cut = start(book(), { store: { ...store, claim } });
      expect(await cut.dispatch(job, given)).toMatchObject({ outcome: 'failed', code: 'store_unavailable' });
      expect(await start(book()).dispatch(job, given)).toMatchObject({ outcome: 'parked' });
    });

    test('leaves an event alone that runs, in this process or another one, and one whose store is away', async () => {
      const { deadLetters, jobOf, start, store } = openProcesses();
      const held = new HeldHandler();
      const worker = start((fresh) => fresh.on('transfer.*', held.handle, { name: 'book', queue: true }));
      const job = await jobOf(worker);
      const running = worker.dispatch(job, { attempt: 1, final: false });
      const { succeed } = await held.calls.nth(1);
      const busy = { outcome: 'busy', code: 'event_running' };
      expect(await worker.dispatch(job, given)).toMatchObject(busy);
      const other = start(book());
      expect(await other.dispatch(job, given)).toMatchObject(busy);
      const fail = () => Promise.reject(new Error('away'));
      const away = { ...store, claim: fail, peek: fail };
      const cut = start(book(), { store: away, onStoreFailure: 'process' });
      expect(await cut.dispatch(job, given)).toMatchObject({ code: 'store_unavailable' });
      expect(await deadLetters.get(event.id)).toBeUndefined();
      succeed();
      expect(await running).toMatchObject({ outcome: 'processed' });
    });

    test('leaves no letter of an event that was handled meanwhile, if the store is away for a moment', async () => {
      const { clock, deadLetters, jobOf, start, store } = openProcesses();
      const job = await jobOf(start(book()));
      const { slowDeadLetters, putting } = slowLetters(deadLetters);
      let failures = 0;
      const away = <Request, Result>(operation: (request: Request) => Result) => {
        return (request: Request): Result => {
          if (failures === 0) return operation(request);
          failures -= 1;
          throw new Error('away');
        };
      };
      const sweeping = start(book(), {
        deadLetters: slowDeadLetters,
        store: { ...store, claim: away(store.claim), release: away(store.release) },
      });
      const swept = sweeping.dispatch(job, given);
      const goOn = await putting.nth(1);
      // Its process was frozen past the lease, and another one has made the letter, which was replayed.
      clock.step(DAY_MS / 24);
      const other = start(book());
      expect(await other.dispatch(job, given)).toMatchObject({ outcome: 'parked' });
      const letter = await letterOf(deadLetters, event.id);
      expect(await other.replay(letter)).toMatchObject({ outcome: 'processed' });
      failures = 2;
      goOn();
      await swept;
      expect(await deadLetters.get(event.id)).toBeUndefined();
    });

    test('fails if the letter cannot be stored, and frees the event', async () => {
      const { deadLetters, jobOf, start } = openProcesses();
      const job = await jobOf(start(book()));
      const full = { ...deadLetters, put: () => Promise.reject(new Error('full')) };
      const cut = start(book(), { deadLetters: full });
      expect(await cut.dispatch(job, given)).toMatchObject({
        outcome: 'failed',
        code: 'handler_failed',
        warnings: [expect.stringContaining('full')],
      });
      expect(await start(book()).dispatch(job, given)).toMatchObject({ outcome: 'parked' });
    });
  });

  test('runs a handler that has become one before the answer since the event was queued', async () => {
    const { jobOf, start } = openProcesses();
    const runs: string[] = [];
    const job = await jobOf(start(book()));
    const worker = start((receiver) => receiver.on('transfer.*', () => runs.push('book'), { name: 'book' }));
    expect(await worker.dispatch(job, { attempt: 1, final: false })).toMatchObject({ outcome: 'processed' });
    expect(runs).toEqual(['book']);
  });

  test.each([
    ['newer', { version: 2 }, /version: is newer than 1/],
    ['without a body', { rawBody: undefined }, /rawBody: /],
    ['with another body', { rawBody: btoa('{}') }, /the body of the job is not an event/],
  ])('fails a job that is %s', async (_what, change, message) => {
    const { jobOf, start } = openProcesses();
    const worker = start(book());
    const job = { ...Object(await jobOf(worker)), ...change };
    const report = await worker.dispatch(job, { attempt: 9, final: true });
    expect(report).toMatchObject({ outcome: 'failed', code: 'job_unreadable' });
    expect(report.error?.message).toMatch(message);
  });

  test.each([undefined, null, 'job', [], Object.create(null)])('fails %j for a job', async (job) => {
    const { start } = openProcesses();
    const worker = start(book());
    expect(await worker.dispatch(job, { attempt: 1, final: false })).toMatchObject({
      outcome: 'failed',
      code: 'job_unreadable',
    });
  });

  test('leaves an event alone that another process runs, or itself', async () => {
    const { jobOf, queue, start } = openProcesses();
    const held = new HeldHandler();
    const first = start((receiver) => receiver.on('transfer.*', held.handle, { name: 'book', queue: true }));
    const other = start(book());
    const job = await jobOf(first);
    const running = first.dispatch(job, { attempt: 1, final: false });
    const call = await held.calls.nth(1);
    for (const worker of [first, other]) {
      expect(await worker.dispatch(job, { attempt: 1, final: true })).toMatchObject({ outcome: 'busy' });
    }
    call.succeed();
    expect(await running).toMatchObject({ outcome: 'processed' });
    expect(held.calls.all).toHaveLength(1);
    expect(queue.jobs).toEqual([]);
  });

  test('that closes gives its job up without parking it, also at the last attempt', async () => {
    const { deadLetters, jobOf, start } = openProcesses();
    const held = new HeldHandler();
    const first = start((receiver) => receiver.on('transfer.*', held.handle, { name: 'book', queue: true }));
    const job = await jobOf(first);
    const running = first.dispatch(job, { attempt: 1, final: true });
    const { context } = await held.calls.nth(1);
    expect(await first.close({ graceMs: 0 })).toEqual({ abandoned: [event.id] });
    expect(await running).toMatchObject({ outcome: 'failed', code: 'run_closed' });
    expect(context.signal.aborted).toBe(true);
    expect(await first.dispatch(job, { attempt: 1, final: true })).toMatchObject({ code: 'closing' });
    const next = start(book());
    expect(await next.dispatch(job, { attempt: 1, final: true })).toMatchObject({ outcome: 'processed' });
    expect(await deadLetters.get(event.id)).toBeUndefined();
  });

  test('takes out the letter of a job that the queue gave up while its handlers ran', async () => {
    const { deadLetters, jobOf, start } = openProcesses();
    const held = new HeldHandler();
    const deadlineMs = 250;
    const register = (receiver: Receiver): unknown =>
      receiver.on('transfer.*', held.handle, { name: 'book', queue: true });
    const worker = start(register, { deadlineMs });
    const job = await jobOf(start(register));
    const startedAt = performance.now();
    const running = worker.dispatch(job, { attempt: 1, final: false });
    const call = await held.calls.nth(1);
    // What sweeps the failed jobs of the queue into letters, in whatever process.
    await deadLetters.put(createLetter({ id: event.id, runningUntil: undefined }));
    await until('the deadline', () => performance.now() > startedAt + 2 * deadlineMs);
    call.succeed();
    expect(await running).toMatchObject({ outcome: 'processed', attempt: 1 });
    expect(await deadLetters.get(event.id)).toBeUndefined();
  });

  test('gives its job up when the signal of the queue aborts', async () => {
    const { jobOf, start } = openProcesses();
    const held = new HeldHandler();
    const worker = start((receiver) => receiver.on('transfer.*', held.handle, { name: 'book', queue: true }));
    const job = await jobOf(worker);
    const controller = new AbortController();
    const { signal } = controller;
    const running = worker.dispatch(job, { attempt: 1, final: false, signal });
    const { context } = await held.calls.nth(1);
    controller.abort(new Error('the lock is lost'));
    expect(await running).toMatchObject({ outcome: 'failed', code: 'run_closed' });
    expect(context.signal.aborted).toBe(true);
    expect(await worker.dispatch(job, { attempt: 1, final: false, signal })).toMatchObject({
      code: 'run_closed',
    });
  });

  test('is limited by maxRunMs, and by no deadline', async () => {
    const { jobOf, start } = openProcesses();
    const held = new HeldHandler();
    const worker = start(
      (receiver) => receiver.on('transfer.*', held.handle, { name: 'book', queue: true }),
      { deadlineMs: 50, maxRunMs: 300 },
    );
    const job = await jobOf(worker);
    expect(await worker.dispatch(job, { attempt: 1, final: false })).toMatchObject({
      outcome: 'failed',
      code: 'run_timeout',
    });
  });

  test('finds an event done that was dropped, and so does a delivery', async () => {
    const { clock, deadLetters, event: sent, jobOf, queue, start } = openProcesses();
    const worker = start(book(throwing(new PermanentError('never'))));
    const job = await jobOf(worker);
    await worker.dispatch(job, { attempt: 1, final: false });
    expect(await worker.drop(await letterOf(deadLetters, event.id))).toBe(true);
    expect(await worker.dispatch(job, { attempt: 2, final: false })).toMatchObject({ outcome: 'duplicate' });
    clock.step(1_000);
    expect(JSON.parse(String((await worker.receive(deliveryOf(sent))).body))).toMatchObject({
      outcome: 'duplicate',
    });
    expect(queue.calls).toBe(1);
  });

  test('refuses wrong options', async () => {
    const { start } = openProcesses();
    const worker = start(book());
    const dispatch = (options: unknown) => Reflect.apply(worker.dispatch, worker, [{}, options]);
    for (const attempt of [undefined, null, 0]) {
      const { code, message } = await dispatch({ attempt, final: true }).catch((error: unknown) => error);
      expect([code, message]).toEqual([
        'configuration_invalid',
        `attempt of dispatch() must be a whole number from 1 to 9007199254740991, got ${attempt}`,
      ]);
    }
    await expect(dispatch({ attempt: 1 })).rejects.toThrow(/final of dispatch\(\)/);
    await expect(dispatch({ attempt: 1, final: true, signal: 1 })).rejects.toThrow(/signal of dispatch\(\)/);
    for (const handled of ['book', [1], null])
      await expect(dispatch({ attempt: 1, final: true, handled })).rejects.toThrow(
        /^handled of dispatch\(\) must/,
      );
    await expect(dispatch({ attempt: 1, final: true, onHandled: 1 })).rejects.toThrow(
      /^onHandled of dispatch\(\)/,
    );
    for (const failure of [
      null,
      'handler_failed',
      {},
      { code: 'poison', message: 'locked' },
      { code: 'closing' },
      { code: 'lease_lost', message: 'not of a report' },
    ])
      await expect(dispatch({ attempt: 1, final: true, failure })).rejects.toThrow(
        /^failure of dispatch\(\) must be the \{ code, message \} of an error that a report can have, got /,
      );
  });
});

test('a job leaves no listener on the signal of its worker', async () => {
  const { event: sent, queue, start } = openProcesses();
  const receiver = start(book(() => {}));
  await receiver.receive(deliveryOf(sent));
  const { signal } = new AbortController();
  const report = await receiver.dispatch(queue.take(), { attempt: 1, final: false, signal });
  expect(report.outcome).toBe('processed');
  expect(getEventListeners(signal, 'abort')).toEqual([]);
});

test('a letter of an event that never got into the queue is replayed whole, and then done', async () => {
  const { clock, deadLetters, event: sent, queue, start } = openProcesses();
  const runs: string[] = [];
  const receiver = start((fresh) => {
    fresh.on('transfer.*', () => runs.push('log'), { name: 'log' });
    book(() => runs.push('book'))(fresh);
  });
  queue.instead = () => Promise.reject(new Error('away'));
  clock.step(14 * 60_000);
  expect(await receiver.receive(deliveryOf(sent))).toMatchObject({ status: 200 });
  expect(await receiver.replay(await letterOf(deadLetters, event.id))).toMatchObject({
    outcome: 'processed',
  });
  expect(runs).toEqual(['log', 'book']);
  expect(await receiver.receive(deliveryOf(sent))).toMatchObject({ status: 200 });
  expect(runs).toEqual(['log', 'book']);
  expect(await deadLetters.get(event.id)).toBeUndefined();
});
