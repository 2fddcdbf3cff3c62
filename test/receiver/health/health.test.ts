import {
  createMemoryStore,
  createReceiver,
  DeadLetterError,
  type DeadLetters,
  type Receiver,
  type ReceiverOptions,
  type Store,
} from 'posthorn';
import { createEvent } from 'posthorn/testing';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { deliveryOf } from '../../support/delivery-of.ts';
import { errorOf } from '../../support/error-of.ts';
import { flowingTime } from '../../support/fake-time.ts';
import { shutGate } from '../../support/gate.ts';
import { HeldHandler } from '../../support/held-handler.ts';
import { createMapDeadLetters } from '../../support/map-dead-letters.ts';
import { readAll } from '../../support/read-all.ts';
import { KEY } from '../../support/served.ts';
import { StepClock } from '../../support/step-clock.ts';
import { throwing } from '../../support/throwing.ts';
import { unanswered } from '../../support/unanswered.ts';
import { until } from '../../support/until.ts';

/** The 2 seconds that are promised, and a step of the clock. */
const LIMIT_MS = 2_020;

beforeEach(flowingTime);

function create(options: Partial<ReceiverOptions> = {}): Receiver {
  // An observer keeps the failures of these tests out of the log.
  return createReceiver({ signingKey: KEY, ...options }).observe(() => {});
}

async function timed<T>(promise: Promise<T>): Promise<{ readonly result: T; readonly ms: number }> {
  const startedAt = performance.now();
  const result = await promise;
  return { result, ms: performance.now() - startedAt };
}

/** A store that counts what it is asked, and fails in one way after the other. */
class ShakyStore implements Store {
  readonly #store = createMemoryStore();
  readonly asked: string[] = [];
  /** Runs before each operation. */
  before: () => unknown = () => {};
  readonly claim: Store['claim'] = (request) => this.#run('claim', () => this.#store.claim(request));
  readonly renew: Store['renew'] = (request) => this.#run('renew', () => this.#store.renew(request));
  readonly complete: Store['complete'] = (request) =>
    this.#run('complete', () => this.#store.complete(request));
  readonly release: Store['release'] = (request) => this.#run('release', () => this.#store.release(request));

  #run<T>(name: string, operation: () => T | Promise<T>): T | Promise<T> {
    this.asked.push(name);
    const before = this.before();
    return before instanceof Promise ? before.then(operation) : operation();
  }
}

describe('health of a receiver', () => {
  test('tells of a fresh one: the store answers, nothing runs, no delivery came', async () => {
    const { store, ...rest } = await create({ deadLetters: createMapDeadLetters() }).health();
    expect(store).toEqual({ ok: true, latencyMs: expect.any(Number) });
    expect(rest).toEqual({
      provider: 'banking-service',
      closing: false,
      running: 0,
      deadLetters: { ok: true, waiting: 0, more: false },
      lastDelivery: undefined,
    });
  });

  test('has no figure of letters where there are no dead letters', async () => {
    expect(await create().health()).toHaveProperty('deadLetters', undefined);
  });

  test('lets handlers be registered after it, and writes nothing into the store', async () => {
    const store = new ShakyStore();
    const receiver = create({ store });
    await receiver.health();
    receiver.on('*', () => {});
    expect(await receiver.receive(deliveryOf(createEvent('transfer.created')))).toHaveProperty('status', 200);
    expect(store.asked).toEqual(['release', 'claim', 'complete']);
  });

  test('asks the store for a release that has nothing to release, and refuses no claim', async () => {
    const asked: unknown[] = [];
    const release: Store['release'] = (request) => {
      asked.push(request);
      return { state: 'lost' };
    };
    await create({ store: { ...createMemoryStore(), release } }).health();
    expect(asked).toEqual([{ id: expect.any(String), token: 'health', retentionMs: 1_000, handled: [] }]);
  });

  test('counts what runs, and closes', async () => {
    const handler = new HeldHandler();
    const receiver = create().on('*', handler.handle);
    const answered = [1, 2].map(() => receiver.receive(deliveryOf(createEvent('transfer.created'))));
    await handler.calls.nth(2);
    expect(await receiver.health()).toMatchObject({ running: 2, closing: false });
    const closed = receiver.close();
    expect(await receiver.health()).toMatchObject({ running: 2, closing: true, store: { ok: true } });
    for (const { succeed } of handler.calls.all) succeed();
    await Promise.all([...answered, closed]);
    expect(await receiver.health()).toMatchObject({ running: 0, closing: true });
  });

  test('tells of the last authentic delivery, and of no other', async () => {
    const { now, step, startedAt } = bound(new StepClock());
    const receiver = create({ now }).on('transfer.*', throwing('no booking today'));
    const send = (type: string, headers = {}) =>
      receiver.receive(
        deliveryOf({ ...createEvent('transfer.created'), type, created_at: time(now()) }, headers),
      );
    await send('transfer.created', { 'x-service-signature': ['0'.repeat(64)] });
    expect(await receiver.health()).toHaveProperty('lastDelivery', undefined);
    step(5_000);
    await send('merchant.created');
    const ignored = { receivedAt: startedAt + 5_000, outcome: 'ignored', code: undefined };
    expect((await receiver.health()).lastDelivery).toStrictEqual(ignored);
    step(5_000);
    await send('transfer.created', { 'x-service-signature': [] });
    expect((await receiver.health()).lastDelivery).toStrictEqual(ignored);
    await send('transfer.failed');
    const failed = { receivedAt: startedAt + 10_000, outcome: 'failed', code: 'handler_failed' };
    expect((await receiver.health()).lastDelivery).toStrictEqual(failed);
    await receiver.dispatch('no job', { attempt: 1, final: false });
    expect((await receiver.health()).lastDelivery).toStrictEqual(failed);
  });
});

describe('health where the store', () => {
  const failures: Readonly<Record<string, { before: () => unknown; says: RegExp }>> = {
    'throws at once': { before: throwing('no store'), says: /no store/ },
    rejects: { before: () => Promise.reject(new Error('no store')), says: /no store/ },
    'throws what cannot be looked at': {
      before: () => {
        throw Proxy.revocable({}, {}).proxy;
      },
      says: /./,
    },
    'gives no answer': { before: unanswered, says: /not answer within 1500 ms/ },
  };
  for (const [name, { before, says }] of Object.entries(failures)) {
    test(`${name}: it says so in time, since when, and that it is back`, async () => {
      const { now, step, startedAt } = bound(new StepClock());
      const store = new ShakyStore();
      const receiver = create({ store, now });
      store.before = before;
      const first = await timed(receiver.health());
      expect(first.ms).toBeLessThan(LIMIT_MS);
      expect(first.result.store).toMatchObject({
        ok: false,
        failingSince: startedAt,
        error: { code: 'store_unavailable', message: expect.stringMatching(says) },
      });
      step(60_000);
      expect((await receiver.health()).store).toMatchObject({ ok: false, failingSince: startedAt });
      store.before = () => {};
      expect((await receiver.health()).store).toEqual({ ok: true, latencyMs: expect.any(Number) });
      store.before = before;
      expect((await receiver.health()).store).toMatchObject({ failingSince: startedAt + 60_000 });
    });
  }

  test('is slow: all who ask meanwhile share one question, and the next one asks again', async () => {
    const gate = shutGate();
    const store = new ShakyStore();
    store.before = gate.pass;
    const receiver = create({ store });
    const asked = Array.from({ length: 50 }, () => receiver.health());
    expect(store.asked).toEqual(['release']);
    gate.open();
    for (const { store: answered } of await Promise.all(asked)) expect(answered.ok).toBe(true);
    await receiver.health();
    expect(store.asked).toEqual(['release', 'release']);
  });

  test('has a longer time-out of its own: the question has not', async () => {
    const store = Object.assign(new ShakyStore(), { commandTimeoutMs: 20_000 });
    store.before = unanswered;
    const { result, ms } = await timed(create({ store }).health());
    expect(result.store.ok).toBe(false);
    expect(ms).toBeLessThan(LIMIT_MS);
  });
});

describe('health where the dead letters', () => {
  const event = createEvent('transfer.created');

  /** Dead letters of which only `list` is asked. */
  function listing(list: DeadLetters['list']): DeadLetters {
    return { ...createMapDeadLetters(), list };
  }

  test('hold letters: it counts those that wait, and tells since when the oldest does', async () => {
    const { now, step, startedAt } = bound(new StepClock());
    const deadLetters = createMapDeadLetters();
    const receiver = create({ deadLetters, now });
    const parked = async () => {
      step(1_000);
      const body = `not JSON ${now()}`;
      expect((await receiver.receive(deliveryOf(body))).body).toContain('"parked"');
    };
    await parked();
    await parked();
    const [oldest, next] = await readAll(deadLetters.list());
    if (oldest === undefined || next === undefined) throw new Error('no letters');
    const first = { ok: true, waiting: 2, more: false, oldestParkedAt: startedAt + 1_000 };
    expect((await receiver.health()).deadLetters).toEqual(first);
    await deadLetters.put({ ...oldest, runningUntil: now() + 1_000 });
    const second = { ok: true, waiting: 1, more: false, oldestParkedAt: startedAt + 2_000 };
    expect((await receiver.health()).deadLetters).toEqual(second);
    step(1_000);
    expect((await receiver.health()).deadLetters).toEqual(first);
    await deadLetters.remove(oldest.id);
    expect((await receiver.health()).deadLetters).toEqual(second);
  });

  test('hold more than 1,000: it stops there, and says that there are more', async () => {
    let taken = 0;
    const deadLetters = listing(async function* () {
      for (;;) {
        taken += 1;
        yield { ...letter, id: `evt_${taken}` };
      }
    });
    expect((await create({ deadLetters }).health()).deadLetters).toEqual({
      ok: true,
      waiting: 1_000,
      more: true,
      oldestParkedAt: letter.parkedAt,
    });
    expect(taken).toBe(1_001);
  });

  test('list summaries: it counts by these, and reads no bodies', async () => {
    const { rawBody, headers, ...summary } = letter;
    let asked: unknown;
    const summaries = async function* (options: unknown) {
      asked = options;
      yield summary;
      throw new DeadLetterError('dead_letter_unreadable', 'one is damaged');
    };
    const deadLetters = { ...listing(() => expect.unreachable()), summaries };
    expect((await create({ deadLetters }).health()).deadLetters).toMatchObject({
      ok: false,
      waiting: 1,
      oldestParkedAt: letter.parkedAt,
      error: { code: 'dead_letter_unreadable' },
    });
    expect(asked).toEqual({ limit: 1_001 });
  });

  test('can count more than 1,000: it reads one of them', async () => {
    let taken = 0;
    const list = async function* () {
      for (;;) {
        taken += 1;
        yield letter;
      }
    };
    const deadLetters = { ...listing(list), count: async () => 1_001 };
    const oldestParkedAt = letter.parkedAt;
    const expected = { ok: true, waiting: 1_000, more: true, oldestParkedAt };
    expect((await create({ deadLetters }).health()).deadLetters).toEqual(expected);
    expect(taken).toBe(1);
  });

  test.each([
    [100_000, { ok: true, waiting: 1_000, more: true }],
    [134, { ok: true, waiting: 134, more: false }],
    [0, { ok: true, waiting: 0, more: false }],
    [Number.NaN, { ok: false, waiting: undefined, more: true }],
    ['7', { ok: false, waiting: undefined, more: true }],
    [-1, { ok: false, waiting: undefined, more: true }],
  ])('count %d, and hang when they are read: it tells what was counted', async (count, expected) => {
    const gate = shutGate();
    onTestFinished(() => gate.open());
    const list = async function* () {
      await gate.pass();
      yield letter;
    };
    const deadLetters = Object.assign(listing(list), { count: async () => count });
    const { result, ms } = await timed(create({ deadLetters }).health());
    expect(ms).toBeLessThan(LIMIT_MS);
    expect(result.deadLetters).toMatchObject(expected);
  });

  test('cannot be counted: it says so', async () => {
    const deadLetters = {
      ...createMapDeadLetters(),
      count: () => Promise.reject(new Error('no disk')),
    };
    expect((await create({ deadLetters }).health()).deadLetters).toMatchObject({
      ok: false,
      waiting: undefined,
      error: errorOf('dead_letters_unavailable', 'no disk'),
    });
  });

  test('are slow: it tells how many it has seen in time, and does not count again at once', async () => {
    let lists = 0;
    let hasEnded = false;
    const deadLetters = listing(async function* () {
      lists += 1;
      try {
        for (;;) {
          yield letter;
          await new Promise((resolve) => setTimeout(resolve, 100));
        }
      } finally {
        hasEnded = true;
      }
    });
    const receiver = create({ deadLetters });
    const { result, ms } = await timed(receiver.health());
    expect(ms).toBeLessThan(LIMIT_MS);
    expect(result.deadLetters).toMatchObject({ ok: true, more: true });
    expect(result.deadLetters?.waiting).toBeGreaterThan(1);
    await until('the count has ended', () => hasEnded);
    expect(await receiver.health()).toHaveProperty('deadLetters.more', true);
    expect(lists).toBe(1);
  });

  test('hang: it says so in time, asks no second time, and counts again once they are back', async () => {
    const gate = shutGate();
    onTestFinished(gate.open);
    let lists = 0;
    const deadLetters = listing(async function* () {
      lists += 1;
      await gate.pass();
      yield letter;
    });
    const receiver = create({ deadLetters });
    const { result, ms } = await timed(receiver.health());
    expect(ms).toBeLessThan(LIMIT_MS);
    expect(result).toMatchObject({
      store: { ok: true },
      deadLetters: {
        ok: false,
        waiting: undefined,
        error: errorOf('dead_letters_unavailable', /have not answered for \d+ ms$/),
      },
    });
    const again = await timed(receiver.health());
    expect(again.result.deadLetters).toHaveProperty('ok', false);
    expect(again.ms).toBeLessThan(1_000);
    expect(lists).toBe(1);
    gate.open();
    await until('they are counted', async () => (await receiver.health()).deadLetters?.waiting === 1);
  });

  const failures: Readonly<Record<string, { list: DeadLetters['list']; waiting?: number; code?: string }>> = {
    'throw at once': { list: throwing('no disk') },
    reject: {
      // biome-ignore lint/correctness/useYield: it fails before the first letter
      async *list() {
        throw new Error('no disk');
      },
    },
    'fail after a letter': {
      async *list() {
        yield letter;
        throw new Error('no disk');
      },
      waiting: 1,
    },
    'list nothing that can be walked through': { list: () => Reflect.get({}, 'nothing') },
  };
  for (const [name, { list, waiting }] of Object.entries(failures)) {
    test(`${name}: it says so, and what it has seen`, async () => {
      expect((await create({ deadLetters: listing(list) }).health()).deadLetters).toMatchObject({
        ok: false,
        waiting,
        more: true,
        error: { name: 'DeadLetterError', code: 'dead_letters_unavailable' },
      });
    });
  }

  const letter = {
    id: event.id,
    type: event.type,
    reason: 'handler_failed',
    message: 'no booking today',
    rawBody: Buffer.from(JSON.stringify(event)),
    headers: {},
    receivedAt: 1_700_000_000_000,
    parkedAt: 1_700_000_000_000,
    attempts: 4,
    handled: [],
  };
});

function bound(clock: StepClock): { now: () => number; step: (ms: number) => void; startedAt: number } {
  return { now: clock.now, step: (ms) => clock.step(ms), startedAt: clock.startedAt };
}

function time(ms: number): string {
  return new Date(ms).toISOString();
}
