import { test } from 'vitest';
import { expectExample, openExample } from './example-project.ts';

test.each([
  ['the newest Koa', []],
  ['the oldest', ['koa@2.15.0']],
])('examples/koa receives on %s', async (_, packages) => {
  await expectExample(await openExample('koa', { packages }).start());
});
