import { expect, test } from 'vitest';
import { expectDeadLetters, expectDeliveries, openExample, stopInDelivery } from './example-project.ts';

test('examples/hono receives', async () => {
  const example = await openExample('hono').start();
  await expectDeliveries(example);
  await expectDeadLetters(example);
  const body = '{"a":1}';
  const echo = await fetch(new URL('/echo', example.url), { method: 'POST', body });
  expect(await echo.json()).toEqual({ a: 1 });
  expect(await stopInDelivery(example)).toBe(0);
});
