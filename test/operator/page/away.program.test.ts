import { DeadLetterError, JournalError } from 'posthorn';
import { expect, test } from 'vitest';
import { createMapDeadLetters } from '../../support/map-dead-letters.ts';
import { createMapJournal } from '../../support/map-journal.ts';
import { createOperated, idOf, letters, record } from '../operated.ts';
import { press, told } from './dialog.ts';
import { afterShowing, openLook } from './looks.ts';

const idsOf = (count: number): string[] => letters(count).map(({ id }) => id);

/** A server that may be away, and the error of each call meanwhile. */
class Away {
  is = false;
  readonly #error: Error;

  constructor(error: Error) {
    this.#error = error;
  }

  readonly unlessAway =
    <Given extends unknown[], Result>(call: (...given: Given) => Result) =>
    (...given: Given): Result => {
      if (this.is) throw this.#error;
      return call(...given);
    };
}

test('dead letters that are away stop a count and a deed, which go on once they are back', async () => {
  const away = new Away(new DeadLetterError('dead_letters_unavailable', 'connection refused'));
  const left = new Map(letters(45).map((one) => [one.id, one]));
  const all = createMapDeadLetters(left);
  const deadLetters = { ...all, list: away.unlessAway(all.list), get: away.unlessAway(all.get) };
  const { handled, receiver } = createOperated({
    deadLetters,
    handle: ({ id }) => {
      if (id === idOf(20)) away.is = true;
    },
  });
  const { page } = await openLook(receiver);
  away.is = true;
  await press(page, 'Replay all that match…');
  await told(page, 'dead_letters_unavailable');
  expect(await page.getByRole('button', { name: /^Replay \d+$/ }).count()).toBe(0);
  away.is = false;
  await press(page, 'Count again');
  await press(page, 'Replay 45');
  await told(page, 'dead_letters_unavailable');
  await told(page, 'Stopped: 20 processed. 25 events left.');
  expect([handled.length, left.size]).toEqual([20, 25]);
  away.is = false;
  await press(page, 'Go on');
  await told(page, 'Done: 45 processed.');
  expect([handled.toSorted(), left.size]).toEqual([idsOf(45), 0]);
});

test('a journal that is away stops a rerun, which goes on once it is back', async () => {
  const away = new Away(new JournalError('journal_unavailable', 'connection refused'));
  const entries = Array.from({ length: 45 }, (_, index) => record(index + 1));
  const all = createMapJournal(new Map(entries.map((one) => [one.id, one])));
  const journal = { ...all, list: away.unlessAway(all.list), get: away.unlessAway(all.get) };
  const { handled, receiver } = createOperated({
    journal,
    handle: ({ id }) => {
      if (id === idOf(30)) away.is = true;
    },
  });
  const { page } = await openLook(receiver, { fragment: '#/events' });
  await press(page, 'Rerun all that match…');
  await page.getByLabel('book').check();
  await press(page, 'Count');
  await press(page, 'Rerun 45');
  await told(page, 'journal_unavailable');
  await told(page, 'Stopped: 30 processed. 15 events left.');
  away.is = false;
  await press(page, 'Go on');
  await told(page, 'Done: 45 processed.');
  expect(handled.toSorted()).toEqual(idsOf(45));
});

test('a process that closes stops a deed, and what is left stays parked', async () => {
  const closing: Promise<unknown>[] = [];
  const { handled, left, receiver } = createOperated({
    parked: letters(30),
    handle: ({ id }) => {
      if (id === idOf(10)) closing.push(receiver.close());
    },
  });
  const { page } = await openLook(receiver);
  await press(page, 'Replay all that match…');
  await press(page, 'Replay 30');
  await told(page, 'the receiver is closing');
  await told(page, 'Stopped: 10 processed. 20 events left.');
  await Promise.all(closing);
  await press(page, 'Go on');
  await told(page, 'Stopped: 10 processed. 20 events left.');
  await afterShowing(page, () => press(page, 'Close'));
  expect([handled.length, [...left.keys()]]).toEqual([10, idsOf(30).slice(10)]);
});
