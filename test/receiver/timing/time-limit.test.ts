import { expect, test, vi } from 'vitest';
import { withTimeLimit } from '../../../src/receiver/timing/time-limit.ts';
import { limitFromNow, retryInTime } from '../../../src/stores/kit/retry-in-time.ts';
import { fakeTime, passUntil } from '../../support/fake-time.ts';

test.each([
  ['resolves', () => Promise.resolve()],
  ['rejects', () => Promise.reject(new Error('refused'))],
])('work that %s in time leaves no timer, and is not said to be late', async (_, end) => {
  const pass = fakeTime();
  let isLate = false;
  const work = new Promise<void>((resolve) => setTimeout(resolve, 100)).then(end);
  const limited = withTimeLimit(work, 1_000, () => {
    isLate = true;
    return new Error('late');
  });
  await passUntil(pass, limited).catch(() => {});
  expect(vi.getTimerCount()).toBe(0);
  await pass(2_000);
  expect(isLate).toBe(false);
});

test('a try that does not answer in time is told to stop', async () => {
  const pass = fakeTime();
  const failures = { server: 'the server', isTemporary: () => true, explain: () => new Error('unused') };
  let given: AbortSignal | undefined;
  const limited = retryInTime(limitFromNow(1_000), failures, ({ signal }) => {
    given = signal;
    return new Promise<never>(() => {});
  });
  await expect(passUntil(pass, limited)).rejects.toThrow('the server did not answer in 1000 ms');
  expect(given?.aborted).toBe(true);
});
