import { createMemoryStore, type ReleaseRequest, type Store } from 'posthorn';
import { describe, expect, test } from 'vitest';
import { HeldHandler } from '../../support/held-handler.ts';
import { accepted, eventAt, openEndpoint, refused } from '../../support/open-endpoint.ts';
import { Seen } from '../../support/seen.ts';
import { MINUTE_MS, stepClocked } from '../../support/step-clock.ts';
import { unanswered } from '../../support/unanswered.ts';

/** A memory store that tells which releases it was asked for. */
function createWatchedStore(now?: () => number) {
  const memory = createMemoryStore(now && { now });
  const releases = new Seen<ReleaseRequest>();
  const release: Store['release'] = async (request) => {
    const result = await memory.release(request);
    releases.add(request);
    return result;
  };
  return { memory, releases, store: { ...memory, release } satisfies Store };
}

describe('a claim that may have been taken all the same is given back under its token', () => {
  test.each([
    { name: 'failed', answer: (): Promise<never> => Promise.reject(new Error('ECONNRESET')) },
    { name: 'timed out', answer: unanswered },
  ])('the first question $name', async ({ answer }) => {
    const { memory, releases, store } = createWatchedStore();
    const tokens: string[] = [];
    const claim: Store['claim'] = async (request) => {
      tokens.push(request.token);
      // It reached the store; the answer is what was lost.
      await memory.claim(request);
      return answer();
    };
    let runs = 0;
    const lossy: Store = { ...store, claim, commandTimeoutMs: 100 };
    const { send } = await openEndpoint({ store: lossy }, (receiver) =>
      receiver.on('transfer.*', () => {
        runs += 1;
      }),
    );
    const event = eventAt(Date.now());
    expect(await send(event)).toEqual(refused(503, 'store_unavailable'));
    const { id, token } = await releases.nth(1);
    expect({ id, tokens: [token] }).toEqual({ id: event.id, tokens });
    const next = { id: event.id, token: 'next', leaseMs: 1_000, retentionMs: 60_000 };
    expect(await memory.claim(next)).toMatchObject({ state: 'claimed', attempt: 2, abandoned: 0 });
    expect(runs).toBe(0);
  });

  test('a further question failed, and nobody waits any more', async () => {
    const { memory, releases, store } = createWatchedStore();
    const tokens = new Seen<string>();
    const claim: Store['claim'] = async (request) => {
      tokens.add(request.token);
      if (tokens.all.length > 1) throw new Error('ECONNRESET');
      return memory.claim(request);
    };
    const held = new HeldHandler();
    const { send } = await openEndpoint({ store: { ...store, claim }, deadlineMs: 1_000 }, (receiver) =>
      receiver.on('transfer.*', held.handle),
    );
    const event = eventAt(Date.now());
    await memory.claim({ id: event.id, token: 'other', leaseMs: 60_000, retentionMs: 60_000 });
    expect(await send(event)).toEqual(refused(503, 'event_running'));
    expect(tokens.all.length).toBeGreaterThan(1);
    const { id, token } = await releases.nth(1);
    expect({ id, token }).toEqual({ id: event.id, token: tokens.all[0] });
    expect(held.calls.all).toEqual([]);
  });
});

test('a handler that finishes after maxRunMs is not run again, though another one failed', async () => {
  const { releases, store } = createWatchedStore();
  const book = new HeldHandler();
  const mail = new HeldHandler();
  const { reports, send } = await openEndpoint({ store, maxRunMs: 300 }, (receiver) =>
    receiver.on('transfer.*', book.handle, { name: 'book' }).on('transfer.*', mail.handle, { name: 'mail' }),
  );
  const event = eventAt(Date.now());
  expect(await send(event)).toEqual(refused(503, 'run_timeout'));
  (await book.calls.nth(1)).succeed();
  (await mail.calls.nth(1)).fail(new Error('no mail server'));
  expect(await releases.nth(2)).toMatchObject({ id: event.id, handled: ['book'] });
  const retried = send(event);
  (await mail.calls.nth(2)).succeed();
  expect(await retried).toEqual(accepted('processed', event.id));
  expect(book.calls.all).toHaveLength(1);
  expect(reports.all).toMatchObject([{ code: 'run_timeout' }, { outcome: 'processed', attempt: 2 }]);
});

test('a release that is tried again names the handlers that have finished by then', async () => {
  const { memory, releases, store } = createWatchedStore();
  let isAway = true;
  const release: Store['release'] = (request) =>
    isAway ? Promise.reject(new Error('ECONNRESET')) : store.release(request);
  const book = new HeldHandler();
  const mail = new HeldHandler();
  const { send } = await openEndpoint({ store: { ...store, release }, maxRunMs: 300 }, (receiver) =>
    receiver
      .on('transfer.*', () => {}, { name: 'log' })
      .on('transfer.*', book.handle, { name: 'book' })
      .on('transfer.*', mail.handle, { name: 'mail' }),
  );
  const event = eventAt(Date.now());
  expect(await send(event)).toEqual(refused(503, 'run_timeout'));
  (await book.calls.nth(1)).succeed();
  (await mail.calls.nth(1)).fail(new Error('no mail server'));
  // That of the timed-out run, and that of its late end; whichever comes last must not forget the booking.
  await new Promise((resolve) => setImmediate(resolve));
  isAway = false;
  await releases.nth(2);
  expect(releases.all.map(({ handled }) => [...handled].sort())).toEqual([
    ['book', 'log'],
    ['book', 'log'],
  ]);
  const next = { id: event.id, token: 'next', leaseMs: 1_000, retentionMs: 60_000 };
  expect(await memory.claim(next)).toMatchObject({ state: 'claimed', handled: ['log', 'book'] });
});

describe('a failed last attempt that is released', () => {
  const LEASE_MS = 20_000;

  async function openLast(release: (memory: Store, request: ReleaseRequest) => ReturnType<Store['release']>) {
    const { clock, store: memory, deadLetters } = stepClocked();
    const held = new HeldHandler();
    const store: Store = { ...memory, release: (request) => release(memory, request) };
    const options = { now: clock.now, store, deadLetters, leaseMs: LEASE_MS };
    const endpoint = await openEndpoint(options, (receiver) => receiver.on('transfer.*', held.handle));
    const event = eventAt(clock.startedAt);
    clock.moveTo(15 * MINUTE_MS);
    const answer = endpoint.send(event);
    const call = await held.calls.nth(1);
    expect(await deadLetters.get(event.id)).toMatchObject({ reason: 'run_abandoned' });
    return { ...endpoint, answer, call, clock, deadLetters, event, held, memory };
  }

  test('and was completed by another process is a duplicate, and its letter is taken out', async () => {
    const { answer, call, deadLetters, event, memory, reports } = await openLast((store, request) =>
      store.release(request),
    );
    await memory.complete({ id: event.id, token: 'elsewhere', retentionMs: 60_000 });
    call.fail(new Error('poison'));
    expect(await answer).toEqual(accepted('duplicate', event.id));
    expect(await deadLetters.get(event.id)).toBeUndefined();
    expect(reports.all).toMatchObject([{ outcome: 'duplicate', endpointAtRisk: false }]);
  });

  test('and was taken by another process is read again: completed by then, its letter is taken out', async () => {
    const states: string[] = [];
    const { answer, call, clock, deadLetters, event, memory } = await openLast(async (store, request) => {
      const result = await store.release(request);
      states.push(result.state);
      await store.complete({ ...request, token: 'elsewhere' });
      return result;
    });
    clock.step(LEASE_MS + 1);
    const elsewhere = { id: event.id, token: 'elsewhere', leaseMs: LEASE_MS, retentionMs: 60_000 };
    expect(await memory.claim(elsewhere)).toMatchObject({ state: 'claimed', abandoned: 1 });
    call.fail(new Error('poison'));
    expect(await answer).toEqual(accepted('parked', event.id));
    expect(states).toEqual(['lost']);
    await expect.poll(() => deadLetters.get(event.id)).toBeUndefined();
  });

  test('and was taken by another process that is still at it keeps its letter', async () => {
    const { answer, call, clock, deadLetters, event, memory } = await openLast((store, request) =>
      store.release(request),
    );
    clock.step(LEASE_MS + 1);
    const elsewhere = { id: event.id, token: 'elsewhere', leaseMs: LEASE_MS, retentionMs: 60_000 };
    await memory.claim(elsewhere);
    call.fail(new Error('poison'));
    expect(await answer).toEqual(accepted('parked', event.id));
    expect(await deadLetters.get(event.id)).toMatchObject({ reason: 'handler_failed' });
    expect(await memory.renew(elsewhere)).toEqual({ state: 'held' });
  });
});
