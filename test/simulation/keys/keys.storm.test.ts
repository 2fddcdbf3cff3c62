import { expect, test } from 'vitest';
import { buildKeys } from '../build.ts';
import type { SourceMistake } from '../mistakes.ts';
import { twoAreGranted } from '../walks/mistakes.ts';
import { runWalks } from '../walks/run-walks.ts';

/** The first actions, in all possible orders. */
const DEPTH = '11';

const mistakes: readonly SourceMistake[] = [
  {
    name: 'an event that has given up is granted the key',
    file: 'receiver/handling/keys/key-wait.ts',
    find: 'this.#waiting.splice(index, 1);',
    replace: '',
  },
  twoAreGranted,
];

test('three events of one key in two processes have it one at a time, and leave nothing', async () => {
  expect(runWalks(await buildKeys(), DEPTH)).toMatch(/^\{"ways":1\d{5}\}\n$/);
});

test.each(mistakes)('the exploration finds: $name', async (mistake) => {
  expect(runWalks(await buildKeys(mistake), DEPTH)).toContain('"broken":');
});
