import { type ClaimRequest, createMemoryStore, type Store } from 'posthorn';
import { beforeEach, expect, test, vi } from 'vitest';
import { TimeLimitedStore } from '../../../src/receiver/dedupe/time-limited.ts';
import { fakeTimers } from '../../support/fake-time.ts';
import { shutGate } from '../../support/gate.ts';

const times = { leaseMs: 60_000, retentionMs: 120_000 };
const waiting: ClaimRequest = { ...times, id: 'waiting', token: 'a', waitMs: 1_000 };
const refused = { code: 'store_unavailable', message: expect.stringContaining('no answer in 100 ms') };

beforeEach(() => void fakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] }));

/** A timer is started and called in turns of the event loop of their own. */
async function elapse(ms: number): Promise<void> {
  const turns = async (): Promise<void> => {
    for (let turn = 0; turn < 3; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  };
  await turns();
  vi.advanceTimersByTime(ms);
  await turns();
}

/** Lets time go by, and then some turns of the event loop in which nothing is answered. */
async function silence(ms: number): Promise<void> {
  await elapse(ms);
  for (let turn = 0; turn < 12; turn += 1) await elapse(1);
}

/** A store whose claims wait until the gate opens, and whose other operations are answered. */
function open({ mayWait = true, ...members }: Partial<Store> & { mayWait?: boolean } = {}) {
  const memory = createMemoryStore();
  const gate = shutGate();
  const claim: Store['claim'] = async (request) => {
    await gate.pass();
    return memory.claim(request);
  };
  const store = new TimeLimitedStore(
    { ...memory, commandTimeoutMs: 100, queuesClaims: true, claim, ...members },
    { mayWait },
  );
  const answerAnother = (): unknown => store.complete({ ...times, id: 'another', token: 'b' });
  /** Begins a claim, and keeps what becomes of it. */
  const begin = (request = waiting, mayWaitLonger?: () => boolean) => {
    const end: { state: string; error?: unknown } = { state: 'waiting' };
    Promise.resolve(store.claim(request, mayWaitLonger)).then(
      ({ state }) => void Object.assign(end, { state }),
      (error: unknown) => void Object.assign(end, { state: 'refused', error }),
    );
    return end;
  };
  const releaseAnother = (): unknown => store.release({ ...times, id: 'another', token: 'b', handled: [] });
  return { begin, gate, answerAnother, releaseAnother };
}

test('a claim that may wait goes on waiting while the store answers other operations', async () => {
  const { begin, gate, answerAnother } = open();
  const end = begin();
  for (let look = 0; look < 5; look += 1) {
    answerAnother();
    await elapse(100);
    expect(end.state).toBe('waiting');
  }
  gate.open();
  await elapse(0);
  expect(end.state).toBe('claimed');
});

test('it is given up when the store has answered nothing since the last look', async () => {
  const { begin, answerAnother } = open();
  const first = begin();
  await silence(100);
  expect(first).toMatchObject({ state: 'refused', error: refused });
  const second = begin();
  answerAnother();
  await elapse(100);
  expect(second.state).toBe('waiting');
  await silence(100);
  expect(second).toMatchObject({ state: 'refused', error: refused });
});

test('it goes on waiting if the store answers in the next turns of a busy event loop', async () => {
  const { begin, answerAnother } = open();
  const end = begin();
  await elapse(100);
  for (let turn = 0; turn < 5; turn += 1) await elapse(1);
  answerAnother();
  await elapse(1);
  expect(end.state).toBe('waiting');
  await silence(100);
  expect(end).toMatchObject({ state: 'refused', error: refused });
});

test('a release is not such an answer: that of a claim that was never sent needs no server', async () => {
  const { begin, releaseAnother } = open();
  const end = begin();
  releaseAnother();
  await silence(100);
  expect(end).toMatchObject({ state: 'refused', error: refused });
});

test('it goes on waiting while the store works for other processes, though it answers nothing here', async () => {
  let isAtWork = true;
  const { begin } = open({ isAtWork: () => isAtWork });
  const end = begin();
  await silence(100);
  await silence(100);
  expect(end.state).toBe('waiting');
  isAtWork = false;
  await silence(100);
  expect(end).toMatchObject({ state: 'refused', error: refused });
});

const throwing = (): boolean => {
  throw new Error('at work');
};
const rejecting = async () => throwing();

test.each([
  ['throws', throwing],
  ['rejects', rejecting],
])('it is given up if isAtWork of a foreign store %s', async (_name, isAtWork) => {
  const { begin } = open(Object.fromEntries([['isAtWork', isAtWork]]));
  const end = begin();
  await silence(100);
  expect(end).toMatchObject({ state: 'refused', error: refused });
});

test('it waits for its waitMs at the most, and then for its answer', async () => {
  const { begin, answerAnother } = open();
  const end = begin({ ...waiting, waitMs: 250 });
  for (const ms of [100, 100, 100, 40]) {
    answerAnother();
    await elapse(ms);
    expect(end.state).toBe('waiting');
  }
  answerAnother();
  await elapse(20);
  expect(end.state).toBe('refused');
});

test('it is asked at each look whether the delivery may wait longer', async () => {
  const { begin, answerAnother } = open();
  const mayWaitLonger = vi.fn(() => true);
  const end = begin(waiting, mayWaitLonger);
  expect(mayWaitLonger).not.toHaveBeenCalled();
  for (let look = 0; look < 3; look += 1) {
    answerAnother();
    await elapse(100);
  }
  expect(end.state).toBe('waiting');
  expect(mayWaitLonger).toHaveBeenCalledTimes(3);
  mayWaitLonger.mockReturnValue(false);
  answerAnother();
  await elapse(100);
  expect(end.state).toBe('refused');
});

test.each([
  ['the delivery may not wait longer', {}, waiting, () => false],
  ['the client of the store is not connected', { mustWait: () => true }, waiting, undefined],
  ['the store queues no claims', { queuesClaims: false }, waiting, undefined],
  ['the claim has no waitMs', {}, { ...waiting, waitMs: undefined }, undefined],
  ['nothing may wait', { mayWait: false }, waiting, undefined],
] as const)('it is given up after commandTimeoutMs if %s', async (_name, members, request, mayWaitLonger) => {
  const { begin, answerAnother } = open(members);
  const end = begin(request, mayWaitLonger);
  answerAnother();
  await elapse(100);
  expect(end).toMatchObject({ state: 'refused', error: refused });
});
