import { test } from 'vitest';
import { expectExample, openExample } from './example-project.ts';
import { bunPackage, runtimeFolder } from './runtime.ts';

test('examples/elysia receives on Bun', async () => {
  const example = openExample('elysia');
  const PATH = `${runtimeFolder(`${bunPackage}@1.4.5`)}/bin:${process.env.PATH}`;
  const running = await example.start({ environment: { PATH }, runtime: 'bun' });
  await expectExample(running, { module: './receiver.ts' });
});
