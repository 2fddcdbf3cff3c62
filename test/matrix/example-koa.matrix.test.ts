import { expect, test } from 'vitest';
import {
  expectDeadLetters,
  expectDeliveries,
  expectEcho,
  openExample,
  stopInDelivery,
} from './example-project.ts';

test.each([
  ['the newest Koa', []],
  ['the oldest', ['koa@2.15.0']],
])('examples/koa receives on %s', async (_, packages) => {
  const example = await openExample('koa', { packages }).start();
  await expectDeliveries(example);
  await expectDeadLetters(example);
  await expectEcho(example);
  expect(await stopInDelivery(example)).toBe(0);
});
