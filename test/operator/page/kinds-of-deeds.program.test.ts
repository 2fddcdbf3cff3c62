import { expect, test } from 'vitest';
import { createOperated, idOf, letter, letters, record } from '../operated.ts';
import { press, told } from './dialog.ts';
import { afterShowing, openLook } from './looks.ts';

const disputed = { type: 'dispute.won' };

test('a letter is dropped from its own page, and only after a count', async () => {
  const { handled, left, receiver } = createOperated({ parked: letters(2) });
  const { page } = await openLook(receiver, { fragment: `#/dead-letters/${idOf(2)}` });
  await press(page, 'Drop…');
  await told(page, '1 × transfer.succeeded, handler_failed');
  expect(left.size).toBe(2);
  await press(page, 'Drop 1');
  await told(page, 'Done: 1 dropped.');
  await press(page, 'Close');
  await page.getByRole('heading', { name: 'No dead letter' }).waitFor();
  expect([[...left.keys()], handled]).toEqual([[idOf(1)], []]);
});

test('all that match a filter are dropped, and the list says that none is left of them', async () => {
  const { handled, left, receiver } = createOperated({
    parked: [letter(1), letter(2, disputed), letter(3, disputed)],
  });
  const { page } = await openLook(receiver, { fragment: '#/dead-letters?type=dispute.*' });
  await press(page, 'Drop all that match…');
  await told(page, '2 × dispute.won, handler_failed');
  await press(page, 'Drop 2');
  await told(page, 'Done: 2 dropped.');
  await press(page, 'Close');
  await page.getByText('No dead letter matches.').waitFor();
  expect([[...left.keys()], handled]).toEqual([[idOf(1)], []]);
});

test('a letter whose handlers may be running is left out of a selection', async () => {
  const runningUntil = Date.now() + 3_600_000;
  const { handled, left, receiver } = createOperated({ parked: [letter(1), letter(2, { runningUntil })] });
  const { page } = await openLook(receiver);
  await press(page, 'Replay all that match…');
  await told(page, 'Left out, because they may be running: 1.');
  await press(page, 'Replay 1');
  await told(page, 'Done: 1 processed.');
  expect([handled, [...left.keys()]]).toEqual([[idOf(1)], [idOf(2)]]);
});

test('the chosen events are rerun, and no other', async () => {
  const { handled, receiver } = createOperated({ records: [1, 2, 3].map((n) => record(n)) });
  const { faults, page } = await openLook(receiver, { fragment: '#/events' });
  for (const id of [1, 3].map(idOf)) await page.getByLabel(id).check();
  await press(page, 'Rerun 2 chosen…');
  await page.getByLabel('book').check();
  await press(page, 'Count');
  await told(page, '2 × would run');
  expect(handled).toEqual([]);
  await press(page, 'Rerun 2');
  await told(page, 'Done: 2 processed.');
  expect(handled.toSorted()).toEqual([1, 3].map(idOf));
  expect(faults).toEqual([]);
});

test('all events that match are rerun, those that fail are listed, and none is done twice', async () => {
  const { handled, receiver } = createOperated({
    records: [record(1), ...[2, 3, 4].map((n) => record(n, disputed))],
    handle: ({ id }) => {
      if (id === idOf(3)) throw new Error('the account is locked');
    },
  });
  const { page } = await openLook(receiver, { fragment: '#/events?type=dispute.*' });
  const countAll = async (): Promise<void> => {
    await press(page, 'Rerun all that match…');
    await page.getByLabel('book').check();
    await page.getByLabel('Name of this rerun').fill('mend');
    await press(page, 'Count');
  };
  await countAll();
  await told(page, '3 × would run');
  await press(page, 'Rerun 3');
  await told(page, /^Done: /);
  await page.getByText('the handler "book" failed: the account is locked').waitFor();
  expect(handled.toSorted()).toEqual([2, 3, 4].map(idOf));
  await afterShowing(page, () => press(page, 'Close'));
  await countAll();
  await told(page, '2 × done before under this name');
  await press(page, 'Rerun 1');
  await told(page, /^Done: /);
  expect(handled.toSorted()).toEqual([2, 3, 3, 4].map(idOf));
});
