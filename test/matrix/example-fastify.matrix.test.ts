import { test } from 'vitest';
import { expectExample, openExample } from './example-project.ts';

test.each([
  ['the newest Fastify', []],
  ['the oldest', ['fastify@5.0.0']],
])('examples/fastify receives on %s', async (_, packages) => {
  await expectExample(await openExample('fastify', { packages }).start());
});
