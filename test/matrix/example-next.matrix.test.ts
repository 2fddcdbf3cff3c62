import { test } from 'vitest';
import { expectDeliveries, openExample } from './example-project.ts';

test('examples/next receives, built and started by Next.js', async () => {
  const example = openExample('next');
  await expectDeliveries(await example.start({ listening: /Local:\s+(http:\S+)/ }));
});
