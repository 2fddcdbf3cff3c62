import { randomUUID } from 'node:crypto';
import type { DeadLetter, DeadLetters } from 'posthorn';
import { expect } from 'vitest';
import { awaitedLater } from '../../support/awaited-later.ts';
import { errorOf } from '../../support/error-of.ts';
import { readAll } from '../../support/read-all.ts';

/** A promise of the interface DeadLetters; `check` gets dead letters that are empty. */
export interface DeadLettersCase {
  readonly name: string;
  readonly check: (deadLetters: DeadLetters) => Promise<void>;
}

/** A letter with every member set, unless told otherwise. */
export function createLetter(members: Partial<DeadLetter> = {}): DeadLetter {
  return {
    id: `evt_${randomUUID()}`,
    type: 'transfer.succeeded',
    reason: 'handler_failed',
    message: 'a handler failed: \u0000 "é" 💶\n \u2028 \ud800',
    rawBody: Buffer.from('{"id":"evt_1"}'),
    headers: { 'content-type': ['application/json'], 'x-trace': ['one', 'two'], 'x-é': [''] },
    receivedAt: 1_740_830_400_001,
    parkedAt: 1_740_830_400_002,
    lastTriedAt: 1_740_830_400_004,
    attempts: 4,
    handled: ['book', 'mail "x"'],
    runningUntil: 1_740_830_400_003,
    ...members,
  };
}

/** Proves `count` of letters that count them, from none on. */
export async function expectCounts(deadLetters: DeadLetters): Promise<void> {
  expect(await deadLetters.count?.({ limit: 10 })).toBe(0);
  for (const id of ['1', '2', '3']) await deadLetters.put(createLetter({ id }));
  expect(await deadLetters.count?.({ limit: 10 })).toBe(3);
  expect(await deadLetters.count?.({ limit: 2 })).toBe(2);
  expect(await deadLetters.count?.({ limit: 0 })).toBe(0);
  expect(await deadLetters.count?.({ limit: Number.POSITIVE_INFINITY })).toBe(3);
  await deadLetters.remove('2');
  expect(await deadLetters.count?.({ limit: 10 })).toBe(2);
}

/** As it comes back: bytes as a plain array, absent members gone. */
function plain(letter: DeadLetter | undefined): object | undefined {
  if (letter === undefined) return undefined;
  return JSON.parse(JSON.stringify({ ...letter, rawBody: [...letter.rawBody] }));
}

/** The ids that are listed. If there are summaries, their list has to be the same. */
export async function idsOf(deadLetters: DeadLetters, options?: Parameters<DeadLetters['list']>[0]) {
  const ids = (await readAll(deadLetters.list(options))).map(({ id }) => id);
  const summaries = deadLetters.summaries?.(options);
  if (summaries !== undefined) expect((await readAll(summaries)).map(({ id }) => id)).toEqual(ids);
  return ids;
}

const everyByte = Uint8Array.from({ length: 256 }, (_, byte) => byte);
const long = 'x'.repeat(100_000);
const oddIds = [
  ...[long, `${long}y`, 'a', 'A', 'a ', 'é', 'e\u0301', '💶', '\u0000', '\n', '', ' ', '*', '{a}', 'a:b'],
  ...['..', '.', '/', '../../../etc/passwd', '/etc/passwd', 'a/b', 'CON', '__proto__', 'constructor', '-rf'],
  // Words of a protocol between a store and its server, and what no UTF-8 can hold.
  ...['late', 'told', '\ud800'],
];

const promises: Record<string, DeadLettersCase['check']> = {
  'a letter comes back whole': async (deadLetters) => {
    const letter = createLetter();
    await deadLetters.put(letter);
    const found = await deadLetters.get(letter.id);
    expect(plain(found)).toEqual(plain(letter));
    expect(found?.rawBody).toBeInstanceOf(Uint8Array);
  },
  'members that may be absent stay absent': async (deadLetters) => {
    const absent = { type: undefined, lastTriedAt: undefined, runningUntil: undefined };
    const letter = createLetter({ ...absent, handled: [], headers: {} });
    await deadLetters.put(letter);
    const found = await deadLetters.get(letter.id);
    expect(plain(found)).toEqual(plain(letter));
    expect([found?.type, found?.lastTriedAt, found?.runningUntil]).toEqual([undefined, undefined, undefined]);
  },
  'the sender of a letter comes back': async (deadLetters) => {
    const id = 'handled:from:4:acme:6:acct_1:evt_1';
    const letter = createLetter({ id, eventId: 'evt_1', provider: 'acme', account: 'acct_1' });
    await deadLetters.put(letter);
    expect(plain(await deadLetters.get(id))).toEqual(plain(letter));
    const [listed] = await readAll(deadLetters.list());
    expect(listed).toMatchObject({ eventId: 'evt_1', provider: 'acme', account: 'acct_1' });
    expect(await deadLetters.get('evt_1')).toBeUndefined();
  },
  'a body of any bytes comes back': async (deadLetters) => {
    const bodies = [new Uint8Array(0), Uint8Array.of(0), Uint8Array.of(0xff, 0xfe), everyByte];
    // A view into a larger buffer, as a body reader may hand it over.
    bodies.push(everyByte.subarray(100, 103), new Uint8Array(1_048_576).fill(0xc3));
    for (const rawBody of bodies) {
      const letter = createLetter({ rawBody });
      await deadLetters.put(letter);
      const found = await deadLetters.get(letter.id);
      expect(Buffer.compare(found?.rawBody ?? Buffer.from('none'), rawBody)).toBe(0);
    }
  },
  'a letter that could not be read again is refused, and its wrong member named': async (deadLetters) => {
    const wrong: Record<string, unknown> = {
      id: 5,
      type: null,
      reason: undefined,
      message: 1n,
      rawBody: 'text',
      headers: { 'x-trace': 'one' },
      receivedAt: Number.NaN,
      parkedAt: new Date(0),
      lastTriedAt: '1',
      attempts: undefined,
      handled: 'book',
      runningUntil: Number.POSITIVE_INFINITY,
    };
    for (const [member, value] of Object.entries(wrong)) {
      const put = deadLetters.put(Object({ ...createLetter({ id: 'kept' }), [member]: value }));
      await expect(put).rejects.toMatchObject(errorOf('dead_letter_invalid', `is not one: ${member}`));
    }
    const headers = { 'x-trace': Array.from({ length: 100_001 }, () => '') };
    for (const letter of [createLetter({ headers }), undefined])
      await expect(deadLetters.put(Object(letter))).rejects.toMatchObject({ code: 'dead_letter_invalid' });
    expect(await idsOf(deadLetters)).toEqual([]);
  },
  'a letter takes the place of the one with its id': async (deadLetters) => {
    const letter = createLetter();
    await deadLetters.put(letter);
    const second = { ...letter, reason: 'run_timeout', rawBody: Buffer.from('{}'), runningUntil: undefined };
    await deadLetters.put(second);
    expect(plain(await deadLetters.get(letter.id))).toEqual(plain(second));
    expect(await idsOf(deadLetters)).toEqual([letter.id]);
  },
  'an id without a letter has none': async (deadLetters) => {
    await deadLetters.put(createLetter());
    expect(await deadLetters.get('evt_unknown')).toBeUndefined();
    expect(await deadLetters.remove('evt_unknown')).toBe(false);
  },
  'remove takes out one letter, once': async (deadLetters) => {
    const [gone, kept] = [createLetter(), createLetter()];
    await deadLetters.put(gone);
    await deadLetters.put(kept);
    expect(await deadLetters.remove(gone.id)).toBe(true);
    expect(await deadLetters.remove(gone.id)).toBe(false);
    expect(await deadLetters.get(gone.id)).toBeUndefined();
    expect(await idsOf(deadLetters)).toEqual([kept.id]);
  },
  'of many removals at once, one took it out': async (deadLetters) => {
    const letter = createLetter();
    await deadLetters.put(letter);
    const removals = await Promise.all(Array.from({ length: 20 }, () => deadLetters.remove(letter.id)));
    expect(removals.filter((removed) => removed)).toHaveLength(1);
  },
  'ids of any form are told apart': async (deadLetters) => {
    for (const id of oddIds) await deadLetters.put(createLetter({ id, message: `of ${id}` }));
    for (const id of oddIds) {
      const found = await deadLetters.get(id);
      expect(found?.id === id && found.message === `of ${id}`, JSON.stringify(id.slice(0, 30))).toBe(true);
    }
    expect(new Set(await idsOf(deadLetters))).toEqual(new Set(oddIds));
    for (const id of oddIds) expect(await deadLetters.remove(id)).toBe(true);
    expect(await idsOf(deadLetters)).toEqual([]);
  },
  'an empty list ends': async (deadLetters) => {
    expect(await idsOf(deadLetters)).toEqual([]);
    expect(await idsOf(deadLetters, { after: 'evt_unknown', limit: 3 })).toEqual([]);
  },
  'a list has every letter, in the same order each time': async (deadLetters) => {
    const letters = Array.from({ length: 25 }, () => createLetter());
    for (const letter of letters) await deadLetters.put(letter);
    const ids = await idsOf(deadLetters);
    expect(new Set(ids)).toEqual(new Set(letters.map(({ id }) => id)));
    expect(ids).toHaveLength(25);
    expect(await idsOf(deadLetters)).toEqual(ids);
    const [listed] = await readAll(deadLetters.list({ limit: 1 }));
    expect(plain(listed)).toEqual(plain(letters.find(({ id }) => id === listed?.id)));
  },
  'a list has the oldest letter first, whenever it was stored': async (deadLetters) => {
    const times = [3_000, 1_000, 1_740_830_400_002, 0, 1_740_830_400_001, 2_000, 9_100_000_000_000];
    for (const parkedAt of times) await deadLetters.put(createLetter({ id: `evt_${parkedAt}`, parkedAt }));
    const sorted = times.toSorted((one, other) => one - other).map((time) => `evt_${time}`);
    expect(await idsOf(deadLetters)).toEqual(sorted);
    expect(await idsOf(deadLetters, { after: 'evt_2000', limit: 2 })).toEqual(sorted.slice(3, 5));
    await deadLetters.put(createLetter({ id: 'evt_1000', parkedAt: 2_500 }));
    expect((await idsOf(deadLetters)).slice(0, 4)).toEqual(['evt_0', 'evt_2000', 'evt_1000', 'evt_3000']);
  },
  'a letter that is tried again keeps its place, at every moment': async (deadLetters) => {
    const letters = [1_000, 2_000, 3_000].map((parkedAt) => createLetter({ parkedAt }));
    for (const letter of letters) await deadLetters.put(letter);
    const ids = letters.map(({ id }) => id);
    const [first = createLetter()] = letters;
    const writeAgain = async (): Promise<void> => {
      for (let attempts = 5; attempts < 25; attempts += 1)
        await deadLetters.put({ ...first, attempts, lastTriedAt: 3_000 + attempts });
    };
    const writing = awaitedLater(writeAgain());
    for (let count = 0; count < 20; count += 1) expect(await idsOf(deadLetters)).toEqual(ids);
    await writing;
    expect(await idsOf(deadLetters)).toEqual(ids);
    expect(await idsOf(deadLetters, { after: first.id })).toEqual(ids.slice(1));
    expect(await deadLetters.get(first.id)).toMatchObject({ attempts: 24, lastTriedAt: 3_024 });
  },
  'more letters of one moment than a millisecond has microseconds are all listed': async (deadLetters) => {
    const parkedAt = 1_740_830_400_000;
    for (const [later, length] of [1_010, 200].entries()) {
      const letters = Array.from({ length }, () => createLetter({ parkedAt: parkedAt + later }));
      await Promise.all(letters.map((letter) => deadLetters.put(letter)));
    }
    const ids = await idsOf(deadLetters);
    expect(new Set(ids).size).toBe(1_210);
    for (const index of [5, 1_005]) {
      const letter = await deadLetters.get(ids[index] ?? '');
      if (letter !== undefined) await deadLetters.put({ ...letter, attempts: 5 });
      const last = { after: ids[index - 1], limit: 2 };
      expect(await idsOf(deadLetters, last)).toEqual(ids.slice(index, index + 2));
      // A list remembers the places of the last thousand, which the next index is then not among.
      await idsOf(deadLetters, { limit: 1_000 });
    }
  },
  'a list ends, though each letter that it gives is parked anew at once': async (deadLetters) => {
    for (const id of ['evt_1', 'evt_2', 'evt_3'])
      await deadLetters.put(createLetter({ id, parkedAt: 1_000 }));
    const seen: string[] = [];
    for await (const letter of deadLetters.list()) {
      seen.push(letter.id);
      await deadLetters.put({ ...letter, parkedAt: 2_000 + seen.length });
      expect(seen.length).toBeLessThan(10);
    }
    expect(seen.sort()).toEqual(['evt_1', 'evt_2', 'evt_3']);
  },
  'a page begins where the last one ended, though its letters were parked anew': async (deadLetters) => {
    for (let count = 0; count < 4; count += 1)
      await deadLetters.put(createLetter({ parkedAt: 1_000 + count }));
    const all = await idsOf(deadLetters);
    const [first, second] = await readAll(deadLetters.list({ limit: 2 }));
    for (const letter of [first, second]) {
      if (letter !== undefined) await deadLetters.put({ ...letter, parkedAt: 2_000 });
    }
    expect(await idsOf(deadLetters, { after: second?.id, limit: 2 })).toEqual(all.slice(2));
  },
  'a list without `after` begins anew, though a letter with an empty id was listed': async (deadLetters) => {
    for (const [index, id] of ['a', '', 'b'].entries())
      await deadLetters.put(createLetter({ id, parkedAt: 1_000 + index }));
    for (let count = 0; count < 2; count += 1) expect(await idsOf(deadLetters)).toEqual(['a', '', 'b']);
    expect(await idsOf(deadLetters, { after: '' })).toEqual(['b']);
  },
  'a list can be read in pages': async (deadLetters) => {
    for (let count = 0; count < 7; count += 1) await deadLetters.put(createLetter());
    const ids = await idsOf(deadLetters);
    expect(await idsOf(deadLetters, { limit: 0 })).toEqual([]);
    expect(await idsOf(deadLetters, { limit: 3 })).toEqual(ids.slice(0, 3));
    expect(await idsOf(deadLetters, { limit: 100 })).toEqual(ids);
    expect(await idsOf(deadLetters, { after: ids[2] })).toEqual(ids.slice(3));
    expect(await idsOf(deadLetters, { after: ids[2], limit: 3 })).toEqual(ids.slice(3, 6));
    expect(await idsOf(deadLetters, { after: ids[6], limit: 3 })).toEqual([]);
  },
  'a page begins after the last letter seen, though it is gone': async (deadLetters) => {
    for (let count = 0; count < 5; count += 1) await deadLetters.put(createLetter());
    const ids = await idsOf(deadLetters);
    await deadLetters.remove(ids[1] ?? '');
    expect(await idsOf(deadLetters, { after: ids[1] })).toEqual(ids.slice(2));
  },
  'letters can be taken out while they are listed': async (deadLetters) => {
    for (let count = 0; count < 5; count += 1) await deadLetters.put(createLetter());
    let count = 0;
    for await (const { id } of deadLetters.list()) {
      expect(await deadLetters.remove(id)).toBe(true);
      count += 1;
    }
    expect(count).toBe(5);
    expect(await idsOf(deadLetters)).toEqual([]);
  },
  'a letter is read whole while it is written over and over': async (deadLetters) => {
    const letter = createLetter();
    const version = (number: number): DeadLetter => ({
      ...letter,
      attempts: number,
      rawBody: new Uint8Array(20_000 + number * 1_000).fill(number),
    });
    await deadLetters.put(version(0));
    const readings: Promise<DeadLetter | undefined>[] = [];
    const writings = Array.from({ length: 40 }, async (_, number) => {
      await deadLetters.put(version(number + 1));
      readings.push(awaitedLater(deadLetters.get(letter.id)));
    });
    for (let count = 0; count < 40; count += 1) readings.push(awaitedLater(deadLetters.get(letter.id)));
    await Promise.all(writings);
    for (const found of await Promise.all(readings)) {
      const expected = version(found?.attempts ?? -1);
      expect(Buffer.compare(found?.rawBody ?? Buffer.from('none'), expected.rawBody)).toBe(0);
    }
    expect(await idsOf(deadLetters)).toEqual([letter.id]);
  },
  'many letters can be stored at once': async (deadLetters) => {
    const letters = Array.from({ length: 100 }, () => createLetter());
    await Promise.all(letters.map((letter) => deadLetters.put(letter)));
    expect(new Set(await idsOf(deadLetters))).toEqual(new Set(letters.map(({ id }) => id)));
  },
};

/** What every implementation of DeadLetters must do. */
export const deadLettersConformance: readonly DeadLettersCase[] = Object.entries(promises).map(
  ([name, check]) => ({ name, check }),
);
