import { join } from 'node:path';
import { expect, test } from 'vitest';
import { npmInstall } from '../support/packed-project.ts';
import { expectDeadLetters, expectDeliveries, openExample, stopInDelivery } from './example-project.ts';

const { arch } = process;
const bun = `@oven/bun-linux-${arch === 'arm64' ? 'aarch64' : arch}@1.4.5`;

test('examples/elysia receives on Bun', async () => {
  const example = openExample('elysia');
  npmInstall(example.folder, `runtime@npm:${bun}`);
  const PATH = `${join(example.folder, 'node_modules', 'runtime', 'bin')}:${process.env.PATH}`;
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
