import { expect, test } from 'vitest';
import { expectDeliveries, expectEcho, openExample } from './example-project.ts';

test('examples/nest-express receives', async () => {
  const example = await openExample('nest-express').start();
  await expectDeliveries(example);
  await expectEcho(example);
  expect(await example.stop()).toBe(0);
});
