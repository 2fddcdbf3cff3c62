import { expect, test } from 'vitest';
import { expectDeliveries, openExample, stopInDelivery } from './example-project.ts';

test('examples/sveltekit receives', async () => {
  const example = await openExample('sveltekit').start();
  await expectDeliveries(example);
  expect(await stopInDelivery(example)).toBe(0);
});
