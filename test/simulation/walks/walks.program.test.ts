import { expect, test } from 'vitest';
import { buildWalks } from '../build.ts';
import { runWalks } from './run-walks.ts';

test('a thousand walks through worlds of faults break no promise', async () => {
  // Always the same seeds: a failure is never by chance.
  const printed = runWalks(await buildWalks(), '--seed', '1', '--walks', '1000');
  // A machine that takes minutes reads of each how far it is.
  expect(printed).toMatch(/^(\d+ walks .* seconds\n)*1000 walks from seed 1, \d+ steps, \d+ seconds\n$/);
});
