import { test } from 'vitest';
import { expectDeliveries, openExample } from './example-project.ts';

test('examples/sveltekit receives', async () => {
  await expectDeliveries(await openExample('sveltekit').start());
});
