import type { JournalSelection } from 'posthorn';
import { expect } from 'vitest';
import { readAll } from '../../../support/read-all.ts';
import {
  createFullRecord,
  createRecord,
  entryOf,
  idsOf,
  type JournalCase,
  plain,
  START,
  write,
  writeAll,
} from './journal-case.ts';

/** More than a journal looks at, or deletes, in one step. */
const MANY = 1_100;

/** Not in the order of their times. */
const listed = [
  createRecord({ id: 'c', firstReceivedAt: 3, type: 'invoice.paid', resource: 'r1', outcome: 'failed' }),
  createRecord({ id: 'a', firstReceivedAt: 1, type: 'invoice.line.paid', resource: 'r2' }),
  createRecord({ id: 'b', firstReceivedAt: 2, type: 'invoice', resource: 'r1' }),
  createRecord({ id: 'e', firstReceivedAt: 5, type: 'Invoice.paid', outcome: 'failed' }),
  createRecord({ id: 'd', firstReceivedAt: 4, type: 'invoices.paid', resource: 'r1' }),
  createRecord({ id: 'f', firstReceivedAt: 10 }),
];

const selections: readonly (readonly [selection: JournalSelection, ids: string])[] = [
  [{}, 'abcdef'],
  [{ type: '*' }, 'abcdef'],
  [{ type: 'invoice.paid' }, 'c'],
  [{ type: 'invoice' }, 'b'],
  [{ type: 'invoice.*' }, 'ac'],
  [{ type: 'invoice.line.*' }, 'a'],
  [{ type: 'voice.*' }, ''],
  [{ type: '%.*' }, ''],
  [{ outcome: 'failed' }, 'ce'],
  [{ outcome: 'parked' }, ''],
  [{ since: 3 }, 'cdef'],
  [{ since: 2.5 }, 'cdef'],
  [{ until: 3 }, 'ab'],
  [{ until: 3.5 }, 'abc'],
  [{ since: 2, until: 5 }, 'bcd'],
  [{ since: 5, until: 5 }, ''],
  [{ since: -1e15, until: 1e15 }, 'abcdef'],
  [{ resource: 'r1' }, 'bcd'],
  [{ resource: 'r' }, ''],
  [{ limit: 2 }, 'ab'],
  [{ limit: 6 }, 'abcdef'],
  [{ after: 'b' }, 'cdef'],
  [{ after: 'b', limit: 1 }, 'c'],
  [{ after: 'f' }, ''],
  [{ after: 'a', since: 4 }, 'def'],
  [{ after: 'd', since: 2 }, 'ef'],
  // The place counts, and not whether that entry is selected.
  [{ after: 'a', resource: 'r1', outcome: 'failed' }, 'c'],
  [{ type: 'invoice.*', outcome: 'failed', since: 1, until: 19, resource: 'r1', after: 'b', limit: 1 }, 'c'],
  [{ type: 'invoice.*', outcome: 'failed', since: 4, resource: 'r1' }, ''],
];

const promises: Record<string, JournalCase['check']> = {
  'a list has what fits all members of a selection, the oldest first': async (open) => {
    const journal = open();
    await write(journal, ...listed);
    for (const [selection, ids] of selections)
      expect([selection, (await idsOf(journal, selection)).join('')]).toEqual([selection, ids]);
    expect((await idsOf(journal)).join('')).toBe('abcdef');
  },
  'a list goes on among entries of the same time': async (open) => {
    const journal = open();
    const ids = Array.from({ length: 50 }, (_, index) => `evt_${String(index).padStart(2, '0')}`);
    await write(journal, ...ids.toReversed().map((id) => createRecord({ id })));
    expect(await idsOf(journal)).toEqual(ids);
    const pages: string[] = [];
    for (let page = await idsOf(journal, { limit: 7 }); page.length > 0; ) {
      pages.push(...page);
      page = await idsOf(journal, { limit: 7, after: String(page.at(-1)) });
    }
    expect(pages).toEqual(ids);
  },
  'a list finds the few that match among many': async (open) => {
    const journal = open();
    const matching = [0, 998, 999, 1_000, 1_001, MANY - 1];
    const records = Array.from({ length: MANY }, (_, index) => {
      const isMatching = matching.includes(index);
      const members = { type: isMatching ? 'a.b' : 'c.d', resource: isMatching ? 'r1' : undefined };
      return createRecord({ id: `evt_${index}`, firstReceivedAt: START + index, ...members });
    });
    await writeAll(journal, records);
    const ids = matching.map((index) => `evt_${index}`);
    expect(await idsOf(journal, { type: 'a.b' })).toEqual(ids);
    expect(await idsOf(journal, { type: 'a.*', limit: 4 })).toEqual(ids.slice(0, 4));
    expect(await idsOf(journal, { resource: 'r1', after: 'evt_500' })).toEqual(ids.slice(1));
    expect(await idsOf(journal)).toEqual(records.map(({ id }) => id));
  },
  'a list without bodies has all else of its entries': async (open) => {
    const journal = open();
    const records = Array.from({ length: 450 }, (_, index) =>
      createFullRecord({ id: `evt_${index}`, key: `acme:${index}`, firstReceivedAt: START + index }),
    );
    await writeAll(journal, records);
    const listed = async (selection: JournalSelection) => (await readAll(journal.list(selection))).map(plain);
    const bare = records.map((record) => entryOf({ ...record, rawBody: undefined, headers: undefined }));
    expect(await listed({ bodies: false })).toEqual(bare);
    const range: JournalSelection = { after: 'evt_9', limit: 205 };
    expect(await listed({ ...range, bodies: false })).toEqual(bare.slice(10, 215));
    const whole = records.slice(10, 215).map(entryOf);
    for (const bodies of [true, undefined]) expect(await listed({ ...range, bodies })).toEqual(whole);
  },
  'a list has what comes behind its place while it is read': async (open) => {
    const journal = open();
    const recordAt = (index: number) => createRecord({ id: `evt_${index}`, firstReceivedAt: START + index });
    await writeAll(
      journal,
      Array.from({ length: MANY }, (_, index) => recordAt(index)),
    );
    const seen: string[] = [];
    for await (const { id } of journal.list()) {
      seen.push(id);
      if (id === 'evt_0') await write(journal, recordAt(MANY));
    }
    expect(seen).toEqual(Array.from({ length: MANY + 1 }, (_, index) => `evt_${index}`));
  },
  'a list goes on while its entries are deleted, and ends with its reader': async (open) => {
    const journal = open();
    const recordAt = (index: number) => createRecord({ id: `evt_${index}`, firstReceivedAt: START + index });
    await writeAll(
      journal,
      Array.from({ length: 30 }, (_, index) => recordAt(index)),
    );
    const seen: string[] = [];
    for await (const { id } of journal.list()) {
      seen.push(id);
      if (id === 'evt_5') await journal.prune({ olderThanMs: 0 });
      if (seen.length === 15) break;
    }
    expect(seen).toEqual(Array.from({ length: 15 }, (_, index) => `evt_${index}`));
    expect(await idsOf(journal)).toEqual([]);
  },
  'an entry is found by its key, and by an id that one sender gave': async (open) => {
    const journal = open();
    const [bank, shop, other] = [undefined, 'shop:1', 'other:1'].map((key) => createRecord({ id: '1', key }));
    if (!bank || !shop || !other) throw new Error('three records');
    await write(journal, shop);
    expect(await journal.get('1')).toMatchObject({ key: 'shop:1' });
    await write(journal, other);
    const message =
      'several senders gave the id "1": give the key of the entry, such as "other:1" or "shop:1"';
    const refused = { name: 'JournalError', code: 'journal_id_ambiguous' };
    const ambiguous = await journal.get('1').catch((error) => error);
    expect(ambiguous).toMatchObject(refused);
    expect([message, message.replace('"other:1" or "shop:1"', '"shop:1" or "other:1"')]).toContain(
      ambiguous.message,
    );
    await expect(idsOf(journal, { after: '1' })).rejects.toMatchObject(refused);
    expect(await journal.get('other:1')).toMatchObject({ key: 'other:1' });
    expect((await idsOf(journal, { after: 'other:1' })).length).toBe(1);
    // The id as it stands is the key of a third one.
    await write(journal, bank);
    const found = await journal.get('1');
    expect([found?.id, found?.key]).toEqual(['1', undefined]);
    expect(await journal.get('2')).toBeUndefined();
    expect(await journal.get('')).toBeUndefined();
  },
  'a list after an unknown entry says so': async (open) => {
    await expect(idsOf(open(), { after: 'evt_gone' })).rejects.toMatchObject({
      ...{ name: 'JournalError', code: 'journal_entry_missing' },
      message: 'after: the journal has no entry "evt_gone"; leave it out, and give since',
    });
  },
  'wrong members of a selection are named at once': async (open) => {
    const { list } = open();
    const wrong: Record<string, unknown[]> = {
      type: ['', 'a b', 'a*', 1, null],
      outcome: ['', 'duplicate', 'toString', 1, null],
      since: [Number.NaN, Number.POSITIVE_INFINITY, '1', null, new Date()],
      until: [Number.NaN, Number.NEGATIVE_INFINITY, 1e300, '1', null],
      resource: [1, null, {}],
      after: [1, null, {}],
      limit: [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, '1', null],
      bodies: [0, 1, 'false', null],
    };
    for (const [name, values] of Object.entries(wrong))
      for (const value of values)
        expect(() => Reflect.apply(list, undefined, [{ [name]: value }])).toThrow(
          expect.objectContaining({
            code: 'configuration_invalid',
            message: expect.stringMatching(`^${name} must be `),
          }),
        );
    expect(() => Reflect.apply(list, undefined, [{ from: 1 }])).toThrow(/from.*type, outcome, since/);
    expect(() => Reflect.apply(list, undefined, ['evt'])).toThrow(/list\(\)/);
  },
  'old entries are deleted by the time of their first delivery, the others stay': async (open) => {
    const journal = open();
    const now = Date.now();
    const records = Array.from({ length: MANY }, (_, index) =>
      createRecord({ id: `evt_${index}`, firstReceivedAt: now - 3_600_000 - index, lastReceivedAt: now }),
    );
    await writeAll(journal, records);
    await write(
      journal,
      createRecord({ id: 'young', firstReceivedAt: now - 1_800_000 }),
      createRecord({ id: 'later', firstReceivedAt: now + 3_600_000 }),
    );
    expect(await journal.prune({ olderThanMs: 1e300 })).toBe(0);
    expect(await journal.prune({ olderThanMs: 7_200_000.5 })).toBe(0);
    expect(await journal.prune({ olderThanMs: 3_000_000 })).toBe(MANY);
    expect(await idsOf(journal)).toEqual(['young', 'later']);
    expect(await journal.prune({ olderThanMs: 3_000_000 })).toBe(0);
    expect(await journal.prune({ olderThanMs: 0 })).toBe(1);
    expect(await idsOf(journal)).toEqual(['later']);
    for (const olderThanMs of [-1, Number.NaN, '1', undefined])
      await expect(Reflect.apply(journal.prune, undefined, [{ olderThanMs }])).rejects.toMatchObject({
        ...{ code: 'configuration_invalid', message: expect.stringMatching('^olderThanMs must be a number') },
      });
  },
};

/** The promises of every journal about its lists, and about finding and deleting entries. */
export const listCases: readonly JournalCase[] = Object.entries(promises).map(([name, check]) => ({
  name,
  check,
}));
