import { randomUUID } from 'node:crypto';
import { createD1Store } from 'posthorn/d1';
import { storeConformance } from 'posthorn/testing';
import { describe, expect, test } from 'vitest';
import { fakeTime } from '../../support/fake-time.ts';
import { ampleTime } from '../../support/limits.ts';
import { keyCases } from '../kit/key-cases.ts';
import { expectLateClaimsRefused } from '../kit/late-claims.ts';
import { expectLikeMemoryStore } from '../kit/like-memory-store.ts';
import { delayed, faults, silent } from './binding.ts';
import { useD1 } from './fixture.ts';
import { compareWithModel } from './model-walks.ts';

const scope = 'store-test';
const HOUR_MS = 3_600_000;
const lease = { leaseMs: HOUR_MS / 6, retentionMs: HOUR_MS };

describe('the store in D1', () => {
  const d1 = useD1();
  const open = () => createD1Store(d1.binding, { scope, ...ampleTime });

  for (const { name, run } of storeConformance(() => open())) test(name, run);
  test.each(keyCases)('$name', ({ check }) =>
    check(() => createD1Store(d1.another(), { scope, ...ampleTime })),
  );

  test('answers like the memory store, whatever the operations', async () => {
    await expectLikeMemoryStore(open());
  });

  test('refuses a claim after its release, in whatever order they and another claim take effect', async () => {
    await expectLateClaimsRefused(open(), createD1Store(d1.another(), { scope, ...ampleTime }));
  });

  test('behaves as the reference model under any interleaving of its operations and of time', async () => {
    await compareWithModel(d1, 20);
  });

  test.each(Object.entries(faults))(
    '%s: each operation is tried again, and has its effect once',
    async (_name, fault) => {
      let isFaulty = false;
      d1.binding.nextFault = () => {
        isFaulty = !isFaulty;
        return isFaulty ? fault : undefined;
      };
      const store = open();
      const request = { id: 'evt', token: 't', ...lease };
      expect(await store.claim(request)).toMatchObject({ state: 'claimed', attempt: 1, abandoned: 0 });
      expect(await store.renew(request)).toEqual({ state: 'held' });
      expect(await store.release({ ...request, handled: ['book'] })).toEqual({ state: 'released' });
      const again = { ...request, token: 'u' };
      const claimed = { state: 'claimed', attempt: 2, abandoned: 0, handled: ['book'] };
      expect(await store.claim(again)).toMatchObject(claimed);
      expect(await store.complete(again)).toEqual({ state: 'completed' });
      expect(await store.claim(request)).toEqual({ state: 'completed' });
    },
  );

  test('a claim that arrives after its caller has given up takes nothing', async () => {
    const pass = fakeTime();
    const start = Date.now() - performance.now();
    d1.connection.setClock(() => start + performance.now());
    const store = createD1Store(d1.binding, { scope });
    await store.claim({ id: 'other', token: 't', ...lease });
    let arrive = () => {};
    const arrival = new Promise<void>((resolve) => {
      arrive = resolve;
    });
    d1.binding.nextFault = () => delayed(arrival);
    const claim = store.claim({ id: 'evt', token: 't', ...lease });
    const renewal = store.renew({ id: 'renewed', token: 't', ...lease });
    const ends = Promise.allSettled([claim, renewal]);
    await pass(1_900);
    expect(await ends).toEqual([
      { status: 'rejected', reason: expect.objectContaining({ code: 'store_unavailable' }) },
      {
        status: 'rejected',
        reason: expect.objectContaining({
          message: expect.stringContaining('D1 did not answer in 1900 ms'),
        }),
      },
    ]);
    d1.binding.nextFault = () => undefined;
    arrive();
    // What has arrived runs before the next turn of the event loop.
    await new Promise(setImmediate);
    for (const id of ['evt', 'renewed'])
      expect(await store.claim({ id, token: 'u', ...lease })).toMatchObject({ state: 'claimed', attempt: 1 });
  });

  test.each([true, false])('no answer at all, written: %s: unavailable in time', async (wasWritten) => {
    const pass = fakeTime();
    d1.binding.nextFault = () => silent(wasWritten);
    const failure = createD1Store(d1.binding, { scope }).claim({ id: 'evt', token: 't', ...lease });
    const end = expect(failure).rejects.toMatchObject({ code: 'store_unavailable' });
    await pass(2_000);
    await end;
  });

  test.each([-5_000, 5_000])(
    'a clock of the Worker that differs by %d ms costs one more try',
    async (skewMs) => {
      d1.connection.setClock(() => Date.now() + skewMs);
      const store = open();
      expect(await store.claim({ id: 'evt', token: 't', ...lease })).toMatchObject({ state: 'claimed' });
      expect(await store.claim({ id: 'evt', token: 'u', ...lease })).toMatchObject({ state: 'busy' });
      await store.complete({ id: 'evt', token: 't', retentionMs: HOUR_MS });
      expect(await store.claim({ id: 'evt', token: 'u', ...lease })).toEqual({ state: 'completed' });
    },
  );

  test('a clock of D1 that is set back or forward by 5 s takes no completed id back', async () => {
    let skewMs = 0;
    d1.connection.setClock(() => Date.now() + skewMs);
    const store = open();
    for (const next of [5_000, -5_000, 5_000, 0]) {
      const id = randomUUID();
      await store.claim({ id, token: 't', ...lease });
      await store.complete({ id, token: 't', retentionMs: HOUR_MS });
      skewMs = next;
      expect(await store.claim({ id, token: 'u', ...lease })).toEqual({ state: 'completed' });
      expect(await store.claim({ id: `${id}-new`, token: 'u', ...lease })).toMatchObject({
        state: 'claimed',
        attempt: 1,
      });
    }
  });

  test('without its tables the message says how to create them', async () => {
    d1.connection.exec('drop table posthorn_events');
    const failure = open().claim({ id: 'evt', token: 't', ...lease });
    await expect(failure).rejects.toThrow(/tables of posthorn are missing .*posthorn d1 sql.*wrangler/);
  });

  test.each([
    ['exceeded maximum DB size', /the database is full/],
    ["Your account has exceeded D1's maximum account storage limit", /no storage left/],
  ])('says what to do if D1 says: %s', async (reason, expected) => {
    d1.binding.nextFault = () => () => Promise.reject(new Error(`D1_ERROR: ${reason}`));
    await expect(open().claim({ id: 'evt', token: 't', ...lease })).rejects.toThrow(expected);
  });

  test('deletes rows that have been expired for an hour, beside completions', async () => {
    let time = Date.now();
    d1.connection.setClock(() => time);
    const store = open();
    const complete = (id: string) => store.complete({ id, token: 't', retentionMs: 1_000 });
    const old = () => d1.connection.prepare("select 1 from posthorn_events where key like 'old%'").all();
    for (let number = 0; number < 300; number += 1) await complete(`old_${number}`);
    expect(old()).toHaveLength(300);
    time += 2 * HOUR_MS;
    // On average after 150 of them: by chance one needs more, and 5,000 fail once in 10^40 runs.
    for (let number = 0; number < 5_000 && old().length > 0; number += 1) await complete(`new_${number}`);
    expect(old()).toEqual([]);
  });

  test('looks again at a row that was completed long after its claim only when it has expired', async () => {
    let time = Date.now();
    d1.connection.setClock(() => time);
    const store = open();
    const request = { id: 'replayed', token: 't', retentionMs: HOUR_MS };
    await store.claim({ ...request, leaseMs: 1_000 });
    time += HOUR_MS / 2;
    await store.complete({ ...request, retentionMs: 10 * HOUR_MS });
    time += 2 * HOUR_MS;
    const due = () =>
      d1.connection.prepare('select 1 from posthorn_events where first_expires_at <= ?').all(time).length;
    for (let number = 0; number < 5_000 && due() > 0; number += 1)
      await store.complete({ id: `new_${number}`, token: 't', retentionMs: 100 * HOUR_MS });
    expect(due()).toBe(0);
    expect(await store.claim({ ...request, token: 'u', leaseMs: 1_000 })).toEqual({ state: 'completed' });
  });
});

test('refuses what is not a D1 database, and a wrong option', () => {
  const create = (...args: unknown[]) => Reflect.apply(createD1Store, undefined, args);
  expect(() => create(undefined, { scope })).toThrow(/createD1Store takes a D1 database.*env\.DB/);
  const binding = { prepare: () => {}, batch: () => {} };
  expect(() => create(binding, {})).toThrow(/scope/);
  expect(() => create(binding, { scope, schema: 'x' })).toThrow(/schema/);
});
