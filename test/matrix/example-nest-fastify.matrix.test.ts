import { expect, test } from 'vitest';
import { expectDeliveries, expectEcho, openExample } from './example-project.ts';

test('examples/nest-fastify receives', async () => {
  const example = await openExample('nest-fastify').start();
  await expectDeliveries(example);
  await expectEcho(example);
  expect(await example.stop()).toBe(0);
});
