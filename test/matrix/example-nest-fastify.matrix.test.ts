import { expect, test } from 'vitest';
import { expectDeliveries, expectEcho, openExample, stopInDelivery } from './example-project.ts';

test('examples/nest-fastify receives, and finishes its deliveries on SIGTERM', async () => {
  const example = await openExample('nest-fastify').start();
  await expectDeliveries(example);
  await expectEcho(example);
  // Nest sends itself the signal again, once its hooks have run.
  expect(await stopInDelivery(example)).toBeNull();
});
