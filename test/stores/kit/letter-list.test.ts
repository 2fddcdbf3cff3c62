import { expect, test } from 'vitest';
import { createLetterList, Places } from '../../../src/stores/kit/letter-list.ts';
import { readAll } from '../../support/read-all.ts';

/** Lists of letters that have nothing but their ids, in this order, and share what they remember. */
function openLists(ids: string[]) {
  const places = new Places<{ readonly index: number }>();
  const open = () =>
    createLetterList(
      (id) => id,
      async function* (key, place) {
        const first = place?.index ?? ids.indexOf(key);
        for (const [index, id] of ids.entries())
          if (index > first && id !== '') yield { key: id, place: { index }, read: async () => id };
      },
      places,
    );
  /** As after a replay that failed: the letter is at the end. */
  const parkAnew = (id: string) => {
    ids[ids.indexOf(id)] = '';
    ids.push(id);
  };
  return { list: open(), other: open(), parkAnew };
}

const many = Array.from({ length: 2_500 }, (_, index) => `evt_${index}`);

test('a page begins after a letter that was parked anew, though thousands were listed meanwhile', async () => {
  const { list, other, parkAnew } = openLists([...many]);
  await readAll(list({ limit: 50 }));
  for (let scans = 0; scans < 3; scans += 1) await readAll(other());
  parkAnew('evt_49');
  expect(await readAll(list({ after: 'evt_49', limit: 2 }))).toEqual(['evt_50', 'evt_51']);
});

test('a page begins after the letter before the one at which its reader stopped', async () => {
  const { list, other, parkAnew } = openLists([...many]);
  let count = 0;
  for await (const _ of list({ limit: 51 })) {
    count += 1;
    if (count === 51) break;
  }
  await readAll(other());
  parkAnew('evt_49');
  expect(await readAll(list({ after: 'evt_49', limit: 2 }))).toEqual(['evt_50', 'evt_51']);
});

test('a page begins after any of the last thousand letters that were listed', async () => {
  const { list, parkAnew } = openLists([...many]);
  await readAll(list());
  for (const id of ['evt_1600', 'evt_2000']) {
    parkAnew(id);
    const next = `evt_${Number(id.slice(4)) + 1}`;
    expect(await readAll(list({ after: id, limit: 1 }))).toEqual([next]);
  }
});
