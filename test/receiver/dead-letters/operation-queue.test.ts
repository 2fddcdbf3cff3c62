import { expect, test } from 'vitest';
import { OperationQueue } from '../../../src/receiver/dead-letters/operation-queue.ts';
import { until } from '../../support/until.ts';

const LIMIT_MS = 200;
const AT_ONCE = 8;

/** An operation that ends when it is told to. */
function held() {
  const state = { hasBegun: false, isOver: false };
  let end = (): void => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });
  const operation = async (): Promise<void> => {
    state.hasBegun = true;
    await ended;
    state.isOver = true;
  };
  return { state, operation, end };
}

const wait = () => ({ answerBy: performance.now() + 60_000, isUrgent: false });

test('operations that end after their limit give back no permit that they no longer have', async () => {
  const queue = new OperationQueue(LIMIT_MS);
  const late = Array.from({ length: AT_ONCE }, held);
  const results = await Promise.allSettled(late.map(({ operation }) => queue.run(operation, wait())));
  expect(results.map(({ status }) => status)).toEqual(Array(AT_ONCE).fill('rejected'));
  for (const { end } of late) end();
  await until('they have ended', () => late.every(({ state }) => state.isOver));
  await queue.run(async () => {}, wait());
  const next = Array.from({ length: 4 * AT_ONCE }, held);
  const runs = next.map(({ operation }) => queue.run(operation, wait()));
  await new Promise(setImmediate);
  expect(next.filter(({ state }) => state.hasBegun)).toHaveLength(AT_ONCE);
  for (const { end } of next) end();
  await Promise.all(runs);
});

test('what waits begins as soon as an operation succeeds, though later than its limit', async () => {
  const queue = new OperationQueue(LIMIT_MS);
  const late = held();
  await expect(queue.run(late.operation, wait())).rejects.toThrow('no answer in');
  // The dead letters are taken to be down: one is tried at a time.
  const first = held();
  const second = held();
  const runs = [first, second].map(({ operation }) => queue.run(operation, wait()));
  expect([first.state.hasBegun, second.state.hasBegun]).toEqual([true, false]);
  late.end();
  await new Promise(setImmediate);
  expect([first.state.isOver, second.state.hasBegun]).toEqual([false, true]);
  for (const { end } of [first, second]) end();
  await Promise.all(runs);
});
