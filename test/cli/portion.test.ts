import { DeadLetterError } from 'posthorn';
import { expect, test } from 'vitest';
import { Portion } from '../../src/cli/dead-letters/portion.ts';
import { errorOf } from '../support/error-of.ts';
import { letter } from './letters.ts';

async function* lettersOf(...ids: string[]) {
  for (const id of ids) yield letter(id);
}

test('a dead letter whose body is damaged keeps no other from its replay, and is named at the end', async () => {
  const portion = await Portion.of(lettersOf('evt_bad', 'evt_kept', 'evt_half', 'evt_good'));
  const tried: string[] = [];
  const working = portion.workThrough(async (id) => {
    tried.push(id);
    if (id === 'evt_bad' || id === 'evt_half')
      throw new DeadLetterError('dead_letter_unreadable', `${id} is damaged`);
    return id === 'evt_good';
  });
  await expect(working).rejects.toMatchObject(errorOf('dead_letter_unreadable', 'evt_bad is damaged'));
  expect(tried).toEqual(['evt_bad', 'evt_kept', 'evt_half', 'evt_good']);
  expect(portion.untried).toEqual([]);
  // A command cannot begin after one that cannot be read.
  expect(portion.lastKept).toBe('evt_kept');
});

test('any other error ends the command, and the others are left', async () => {
  const portion = await Portion.of(lettersOf('evt_1', 'evt_2', 'evt_3'));
  const working = portion.workThrough(async (id) => {
    if (id === 'evt_2') throw new DeadLetterError('dead_letters_unavailable', 'gone');
    return true;
  });
  await expect(working).rejects.toMatchObject({ code: 'dead_letters_unavailable' });
  expect(portion.untried).toEqual(['evt_2', 'evt_3']);
});
