import { expect, test } from 'vitest';
import { expectDeadLetters, expectDeliveries, openExample, stopInDelivery } from './example-project.ts';
import { bunPackage, runtimeFolder } from './runtime.ts';

test('examples/elysia receives on Bun', async () => {
  const example = openExample('elysia');
  const PATH = `${runtimeFolder(`${bunPackage}@1.4.5`)}/bin:${process.env.PATH}`;
  const running = await example.start({ environment: { PATH }, runtime: 'bun' });
  await expectDeliveries(running);
  await expectDeadLetters(running, './receiver.ts');
  const echo = await fetch(new URL('/echo', running.url), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"a":1}',
  });
  expect(await echo.json()).toEqual({ a: 1 });
  expect(await stopInDelivery(running)).toBe(0);
});
