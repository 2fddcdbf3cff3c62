import { expect, test } from 'vitest';
import {
  expectDeadLetters,
  expectDeliveries,
  expectEcho,
  openExample,
  stopInDelivery,
} from './example-project.ts';

test.each([
  ['the newest Fastify', []],
  ['the oldest', ['fastify@5.0.0']],
])('examples/fastify receives on %s', async (_, packages) => {
  const example = await openExample('fastify', { packages }).start();
  await expectDeliveries(example);
  await expectDeadLetters(example);
  await expectEcho(example);
  expect(await stopInDelivery(example)).toBe(0);
});
