import { expect, test } from 'vitest';
import { expectDeadLetters, expectDeliveries, openExample, stopInDelivery } from './example-project.ts';

test('examples/next receives, built and started by Next.js', async () => {
  const example = openExample('next');
  const running = await example.start({ listening: /Local:\s+(http:\S+)/ });
  await expectDeliveries(running);
  await expectDeadLetters(running);
  // Next.js finishes its requests by itself.
  expect(await stopInDelivery(running)).toBe(143);
});
