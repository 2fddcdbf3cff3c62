import { randomUUID } from 'node:crypto';
import type { JournalRecord } from 'posthorn';
import { expect } from 'vitest';
import {
  createFullRecord,
  createRecord,
  entryOf,
  idsOf,
  type JournalCase,
  read,
  START,
  write,
} from './journal-case.ts';

const LONG = 'x'.repeat(100_000);

/** As they come back: databases refuse NUL and half of a surrogate pair in a text. */
const oddTexts: readonly (readonly [given: string, stored?: string])[] = [
  ...[LONG, 'A', 'a ', 'é', 'e\u0301', '💶', '\n', ' ', '*', '{a}', 'a:b', "';--", '"', '\\'],
  ...['__proto__', 'constructor', '\\u0000', '\\\\ud800', '\u2028', '\u{10ffff}', '%', '_', 'null', 'NaN'],
].map((text): [string] => [text]);
const mended = [
  ['a\u0000b', 'a\ufffdb'],
  ['\ud800', '\ufffd'],
  ['\\\udfff"', '\\\ufffd"'],
] as const;

/** All the orders of a list. */
function ordersOf<T>(things: readonly T[]): T[][] {
  if (things.length === 0) return [[]];
  return things.flatMap((thing, index) =>
    ordersOf(things.toSpliced(index, 1)).map((rest) => [thing, ...rest]),
  );
}

const EVERY_BYTE = Uint8Array.from({ length: 256 }, (_, byte) => byte);
const LARGE_BODY = Buffer.alloc(5 * 1_048_576, EVERY_BYTE);

const promises: Record<string, JournalCase['check']> = {
  'an entry comes back whole, by its id and by its key': async (open) => {
    const journal = open();
    const record = createFullRecord();
    await write(journal, record);
    expect(await read(journal, record.id)).toEqual(entryOf(record));
    expect(await read(journal, String(record.key))).toEqual(entryOf(record));
    expect((await journal.get(record.id))?.rawBody).toBeInstanceOf(Uint8Array);
  },
  'members that may be absent stay absent': async (open) => {
    const journal = open();
    const record = createRecord();
    const { finality, decidedAt, ...entry } = record;
    await write(journal, { ...record, type: undefined, headers: undefined });
    expect(await journal.get(record.id)).toStrictEqual(entry);
  },
  'texts of any form come back, with U+FFFD for NUL and half surrogates': async (open) => {
    const journal = open();
    const odd = [...oddTexts, ...mended];
    const recordOf = (text: string, id = text): JournalRecord =>
      createFullRecord({
        ...{ id, key: `acme:${text}`, type: text, provider: text, account: text, code: text },
        ...{ resource: text, handled: [text, `${text}2`], headers: { [`x-${text}`]: [text, ''] } },
      });
    await write(journal, ...odd.map(([text]) => recordOf(text)));
    for (const [text, stored = text] of odd)
      for (const id of [text, `acme:${text}`]) {
        const entry = { ...recordOf(stored), key: `acme:${stored}` };
        expect(await read(journal, id)).toEqual(entryOf(entry));
      }
  },
  'an id of any form is the key of its entry': async (open) => {
    const journal = open();
    const odd = [...oddTexts, ...mended, [`${LONG}y`]] as const;
    await write(journal, ...odd.map(([id]) => createRecord({ id })));
    for (const [id, stored = id] of odd) expect((await journal.get(id))?.id).toBe(stored);
  },
  'a selection finds texts of any form': async (open) => {
    const journal = open();
    const texts = [...oddTexts, ...mended].map(([text]) => text);
    const of = (resource: string) => createRecord({ id: `of ${resource}`, resource });
    await write(journal, ...texts.flatMap((text) => [of(text), of(`${text}+`)]));
    for (const [resource, stored = resource] of [...oddTexts, ...mended])
      expect(await idsOf(journal, { resource })).toEqual([`of ${stored}`]);
    await write(journal, createRecord({ id: 'odd', type: 'a\u0000.\ud800' }));
    for (const type of ['a\u0000.\ud800', 'a\u0000.*'])
      expect(await idsOf(journal, { type })).toEqual(['odd']);
  },
  'a body of any bytes comes back, each with its event': async (open) => {
    const journal = open();
    const bodies = [
      EVERY_BYTE,
      new Uint8Array(),
      undefined,
      LARGE_BODY,
      Buffer.from('{}'),
      EVERY_BYTE.subarray(9, 11),
    ];
    const records = bodies.map((rawBody) => createRecord({ rawBody }));
    await write(journal, ...records);
    for (const { id, rawBody } of records) {
      const found = (await journal.get(id))?.rawBody;
      expect(found === undefined).toBe(rawBody === undefined);
      expect(Buffer.compare(found ?? Buffer.of(), rawBody ?? Buffer.of())).toBe(0);
    }
  },
  'the records of an event make the same entry in any order': async (open) => {
    const queued = createRecord({
      ...{ outcome: 'queued', finality: 2, attempts: 0, decidedAt: START + 1 },
      ...{
        type: 'invoice.paid',
        resource: 'inv_1',
        createdAt: START - 1,
        rawBody: Buffer.of(1),
        headers: {},
      },
    });
    const failed = createRecord({
      ...{ outcome: 'failed', code: 'handler_failed', finality: 2, decidedAt: START + 9, deliveries: 0 },
      ...{ firstReceivedAt: START - 7, attempts: 1, handled: ['a'] },
    });
    const processed = createRecord({ deliveries: 0, attempts: 2, handled: ['a'], decidedAt: START + 4 });
    const duplicate = createRecord({
      ...{ finality: 0, lastReceivedAt: START + 70_000, deliveries: 2, attempts: 0 },
      ...{ outcome: 'failed', code: 'busy', decidedAt: START + 99 },
    });
    const journal = open();
    const orders = ordersOf([queued, failed, processed, duplicate]);
    for (const step of [0, 1, 2, 3])
      await write(
        journal,
        ...orders.flatMap((order, index) =>
          order.slice(step, step + 1).map((one) => ({ ...one, id: `evt_${index}` })),
        ),
      );
    for (const index of orders.keys()) {
      const { rawBody, ...entry } = (await journal.get(`evt_${index}`)) ?? {};
      expect(entry).toStrictEqual({
        ...{
          id: `evt_${index}`,
          provider: 'acme',
          type: 'invoice.paid',
          createdAt: START - 1,
          resource: 'inv_1',
          headers: {},
        },
        ...{ firstReceivedAt: START - 7, lastReceivedAt: START + 70_000, deliveries: 3, attempts: 2 },
        ...{ outcome: 'processed', handled: ['a'] },
      });
      expect([...(rawBody ?? [])]).toEqual([1]);
    }
  },
  'a later outcome replaces one that is as final, with its code, and names stay in order': async (open) => {
    const journal = open();
    const outcomeOf = async () => {
      const { outcome, code, handled } = (await journal.get('evt')) ?? {};
      return [outcome, code, handled?.join()];
    };
    const failed = createRecord({
      id: 'evt',
      outcome: 'failed',
      finality: 2,
      code: 'one',
      handled: ['b', 'a'],
    });
    await write(journal, failed);
    await write(journal, {
      ...failed,
      code: 'earlier',
      decidedAt: failed.decidedAt - 1,
      handled: ['c', 'b'],
    });
    expect(await outcomeOf()).toEqual(['failed', 'one', 'b,a,c']);
    await write(journal, { ...failed, code: 'as late', handled: ['c'] });
    expect(await outcomeOf()).toEqual(['failed', 'as late', 'b,a,c']);
    await write(journal, { ...failed, code: 'later', decidedAt: failed.decidedAt + 1, handled: ['0'] });
    expect(await outcomeOf()).toEqual(['failed', 'later', 'b,a,c,0']);
    await write(journal, createRecord({ id: 'evt', decidedAt: START - 9 }));
    expect(await outcomeOf()).toEqual(['processed', undefined, 'b,a,c,0']);
    await write(journal, { ...failed, decidedAt: START + 99 });
    expect(await outcomeOf()).toEqual(['processed', undefined, 'b,a,c,0']);
  },
  'a batch that is written again, because its answer was lost, counts once': async (open) => {
    const journal = open();
    const [one, two] = [createRecord({ id: 'one' }), createRecord({ id: 'two' })];
    const lost = { batchId: randomUUID(), records: [one, two] };
    await journal.record(lost);
    await journal.record(lost);
    // By other processes that got the events.
    for (let others = 0; others < 5; others += 1) await write(journal, one);
    await journal.record(lost);
    const counts = await Promise.all(['one', 'two'].map(async (id) => (await journal.get(id))?.deliveries));
    expect(counts).toEqual([6, 1]);
  },
  'a batch has up to a hundred events, in any order': async (open) => {
    const journal = open();
    const records = Array.from({ length: 100 }, (_, index) =>
      createFullRecord({ id: `evt_${99 - index}`, key: undefined, rawBody: Buffer.alloc(index, index) }),
    );
    await write(journal, ...records);
    await write(journal, ...records.toReversed());
    for (const record of records)
      expect(await read(journal, record.id)).toEqual(entryOf({ ...record, deliveries: 6 }));
  },
  'scopes are apart': async (open) => {
    const [one, two] = [open(), open()];
    await write(one, createRecord({ id: 'evt', type: 'a.b', firstReceivedAt: 5 }));
    expect(await two.get('evt')).toBeUndefined();
    await write(two, createRecord({ id: 'evt', type: 'c.d', firstReceivedAt: 6 }));
    expect([(await one.get('evt'))?.type, (await two.get('evt'))?.type]).toEqual(['a.b', 'c.d']);
    expect(await one.prune({ olderThanMs: 0 })).toBe(1);
    expect(await two.get('evt')).toMatchObject({ deliveries: 1 });
  },
  'an option says whether receivers keep bodies': async (open) => {
    expect([open().bodies, open({ bodies: true }).bodies, open({ bodies: false }).bodies]).toEqual([
      true,
      true,
      false,
    ]);
  },
};

/** The promises of every journal about its entries. */
export const entryCases: readonly JournalCase[] = Object.entries(promises).map(([name, check]) => ({
  name,
  check,
}));
