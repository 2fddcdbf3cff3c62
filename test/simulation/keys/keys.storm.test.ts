import { expect, test } from 'vitest';
import { buildKeys } from '../build.ts';
import type { SourceMistake } from '../mistakes.ts';
import { runWalks } from '../walks/run-walks.ts';

/** The first actions, in all possible orders. */
const DEPTH = '11';

const mistakes: readonly SourceMistake[] = [
  {
    name: 'an event keeps a key that is granted in the moment in which it gives up',
    file: 'receiver/handling/key-queue.ts',
    find: '(key) => key.release(),',
    replace: '() => {},',
  },
  {
    name: 'two events that wait are granted a key at once',
    file: 'receiver/handling/key-queue.ts',
    find: 'grant(held);',
    replace: 'grant(held);\n        this.#waiting.shift()?.grant(held);',
  },
];

test('three events of one key in two processes have it one at a time, and leave nothing', async () => {
  expect(runWalks(await buildKeys(), DEPTH)).toMatch(/^\{"ways":1\d{5}\}\n$/);
});

test.each(mistakes)('the exploration finds: $name', async (mistake) => {
  expect(runWalks(await buildKeys(mistake), DEPTH)).toContain('"broken":');
});
