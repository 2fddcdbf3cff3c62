import { expect, test } from 'vitest';
import { Deadline } from '../../../src/receiver/timing/deadline.ts';
import { fakeTime } from '../../support/fake-time.ts';

test('a deadline is past from its very millisecond on', async () => {
  const pass = fakeTime();
  const deadline = new Deadline(100);
  await pass(80);
  expect(deadline.isPast).toBe(false);
  await pass(20);
  expect(performance.now()).toBe(deadline.answerBy);
  expect(deadline.isPast).toBe(true);
});
