import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DeadLetter, DeadLetters } from 'posthorn';
import { expect } from 'vitest';
import { BODY_MARK, LONGEST_HEAD, serializeLetter } from '../../../src/stores/kit/serialized-letter.ts';
import { packageRoot } from '../../support/child-program.ts';
import { errorOf } from '../../support/error-of.ts';
import { readAll } from '../../support/read-all.ts';
import { listUntilError } from '../file/list-until-error.ts';
import { createLetter } from './conformance.ts';

/** Dead letters that list summaries. */
export type WithSummaries = DeadLetters & Required<Pick<DeadLetters, 'summaries'>>;

/** A promise of summaries. `plant` replaces the text of a dead letter on the server. */
export interface SummariesCase {
  readonly name: string;
  readonly check: (deadLetters: WithSummaries, plant: (id: string, text: string) => unknown) => Promise<void>;
}

/** Requires dead letters to list summaries. */
export function withSummaries(deadLetters: DeadLetters): WithSummaries {
  const { summaries } = deadLetters;
  if (summaries === undefined) throw new Error('these dead letters list no summaries');
  return { ...deadLetters, summaries };
}

async function expectAsListed(deadLetters: WithSummaries): Promise<void> {
  const listed = await readAll(deadLetters.list());
  expect(await readAll(deadLetters.summaries())).toEqual(
    listed.map(({ rawBody, headers, ...summary }) => summary),
  );
}

async function idsOf(deadLetters: WithSummaries, options?: Parameters<DeadLetters['list']>[0]) {
  return (await readAll(deadLetters.summaries(options))).map(({ id }) => id);
}

/** Stores dead letters with the ids `0`, `1`, …, in this order. */
async function putMany({ put }: DeadLetters, count: number): Promise<string[]> {
  const ids = Array.from({ length: count }, (_, index) => String(index));
  await Promise.all(ids.map((id) => put(createLetter({ id, parkedAt: 1_000 + Number(id) }))));
  return ids;
}

const hostile: readonly Partial<DeadLetter>[] = [
  { type: undefined, lastTriedAt: undefined, runningUntil: undefined, handled: [], headers: {} },
  { id: 'handled:from:4:acme:6:acct_1:evt_1', eventId: 'evt_1', provider: 'acme', account: 'acct_1' },
  { rawBody: new Uint8Array(0) },
  { rawBody: Buffer.alloc(8 * 1_048_576, BODY_MARK) },
  { message: BODY_MARK, reason: `{"a":1${BODY_MARK}`, id: `evt${BODY_MARK}`, handled: [BODY_MARK] },
  { headers: { rawBody: ['first'], [BODY_MARK]: [BODY_MARK], 'x-é': [`"${BODY_MARK}"`, '💶'] } },
  { headers: { '': [], rawBody: [] } },
  { message: 'x'.repeat(LONGEST_HEAD) },
  { message: '\ud800💶\u0000"\\'.repeat(100_000) },
  { headers: { 'x-long': ['💶'.repeat(LONGEST_HEAD)] } },
  // The limit may come after a part of a number or of a list that stands at the end of the head.
  ...Array.from({ length: 120 }, (_, index) => {
    const { length } = serializeLetter(createLetter({ message: '' })).split(BODY_MARK, 1)[0] ?? '';
    return { message: `${'é'.repeat(LONGEST_HEAD - length - index + 30)}` };
  }),
];

const promises: Record<string, SummariesCase['check']> = {
  'are the listed dead letters without bodies and headers, whatever these contain': async (deadLetters) => {
    for (const [index, members] of hostile.entries())
      await deadLetters.put(createLetter({ parkedAt: index, ...members }));
    await expectAsListed(deadLetters);
  },
  'have any number of dead letters, in the same order, and in pages': async (deadLetters) => {
    expect(await idsOf(deadLetters)).toEqual([]);
    const ids = await putMany(deadLetters, 350);
    await expectAsListed(deadLetters);
    expect(await idsOf(deadLetters, { limit: 0 })).toEqual([]);
    for (const limit of [1, 0.5, 99, 100, 101, 250, 1_000])
      expect(await idsOf(deadLetters, { limit })).toEqual(ids.slice(0, Math.ceil(limit)));
    expect(await idsOf(deadLetters, { after: '99', limit: 120 })).toEqual(ids.slice(100, 220));
    expect(await idsOf(deadLetters, { after: '349' })).toEqual([]);
  },
  'go on after a dead letter that was removed, or parked anew': async (deadLetters) => {
    const ids = await putMany(deadLetters, 8);
    await deadLetters.remove('1');
    expect(await idsOf(deadLetters, { after: '1', limit: 2 })).toEqual(ids.slice(2, 4));
    await deadLetters.put(createLetter({ id: '3', parkedAt: 2_000 }));
    expect(await idsOf(deadLetters, { after: '3' })).toEqual([...ids.slice(4), '3']);
    await readAll(deadLetters.list({ limit: 4 }));
    await deadLetters.put(createLetter({ id: '5', parkedAt: 3_000 }));
    expect(await idsOf(deadLetters, { after: '5' })).toEqual(['6', '7', '3', '5']);
  },
  'end, though each dead letter is parked anew at once, and have none twice': async (deadLetters) => {
    const ids = await putMany(deadLetters, 130);
    const seen: string[] = [];
    for await (const { id } of deadLetters.summaries()) {
      seen.push(id);
      await deadLetters.put(createLetter({ id, parkedAt: 2_000 + seen.length }));
      expect(seen.length).toBeLessThan(200);
    }
    expect(seen).toEqual(ids);
  },
  'can be removed while they are listed': async (deadLetters) => {
    const ids = await putMany(deadLetters, 130);
    for await (const { id } of deadLetters.summaries()) expect(id).toBe(ids.shift());
    expect(ids).toEqual([]);
    for await (const { id } of deadLetters.summaries()) expect(await deadLetters.remove(id)).toBe(true);
    expect(await idsOf(deadLetters)).toEqual([]);
  },
  'pass over the damaged ones, and fail at the end': async (deadLetters, plant) => {
    const ids = await putMany(deadLetters, 130);
    const head = serializeLetter(createLetter({ id: 'evt' })).split(BODY_MARK, 1)[0] ?? '';
    const wrong = head.replace('"attempts":4', '"attempts":"4"');
    const texts = ['', 'damaged', head, `${head}${BODY_MARK}`.slice(1), `${wrong}${BODY_MARK}"}`, '[]'];
    for (const [index, text] of texts.entries()) await plant(String(20 * index + 1), text);
    const damaged = texts.map((_, index) => String(20 * index + 1));
    const { seen, error } = await listUntilError(deadLetters.summaries());
    expect(seen).toEqual(ids.filter((id) => !damaged.includes(id)));
    expect(error).toMatchObject(errorOf('dead_letter_unreadable', 'the dead letter "1" in '));
    const code = 'dead_letter_unreadable';
    expect(await listUntilError(deadLetters.list())).toMatchObject({ seen, error: { code } });
    expect((await listUntilError(deadLetters.summaries({ limit: 3 }))).seen).toEqual(['0', '2', '3']);
    expect(await idsOf(deadLetters, { limit: 1 })).toEqual(['0']);
  },
  'do not see damage in a body, or what stands behind it': async (deadLetters, plant) => {
    const ids = await putMany(deadLetters, 3);
    const { runningUntil, ...letter } = createLetter({ id: '1', runningUntil: 4_000_000_000_000 });
    const text = serializeLetter(letter);
    const { rawBody, headers, ...summary } = letter;
    for (const planted of [text.slice(0, -3), `${text.slice(0, -1)},"runningUntil":${runningUntil}}`]) {
      await plant('1', planted);
      const summaries = await readAll(deadLetters.summaries());
      expect(summaries.map(({ id }) => id)).toEqual(ids);
      expect(summaries[1]).toEqual(JSON.parse(JSON.stringify(summary)));
    }
    expect(await deadLetters.get('1')).toMatchObject({ runningUntil });
    await plant('1', text.slice(0, -3));
    await expect(deadLetters.get('1')).rejects.toMatchObject({ code: 'dead_letter_unreadable' });
  },
  'have those of earlier versions, which put other members after the body': async (deadLetters, plant) => {
    await putMany(deadLetters, 3);
    const { rawBody, headers, ...rest } = createLetter({ id: '1' });
    const { runningUntil, handled, ...first } = rest;
    const last = { rawBody: Buffer.from(rawBody).toString('base64'), headers, handled, runningUntil };
    await plant('1', JSON.stringify({ ...first, ...last }));
    await expectAsListed(deadLetters);
  },
  'refuse one that a later version has sealed, or written in a newer form': async (deadLetters, plant) => {
    await putMany(deadLetters, 2);
    for (const [name, reason] of [
      ['sealed-letter.json', 'because it is sealed'],
      ['newer-letter.json', 'because its version is 2'],
    ] as const) {
      const path = join(packageRoot, 'test', 'stored-forms', 'senders', name);
      await plant('0', JSON.stringify(JSON.parse(readFileSync(path, 'utf8'))));
      const { seen, error } = await listUntilError(deadLetters.summaries());
      expect(seen).toEqual(['1']);
      expect(error).toMatchObject(errorOf('dead_letter_unreadable', reason));
    }
  },
};

/** The requirements of dead letters that list summaries, besides `serverDeadLettersConformance`. */
export const summariesConformance: readonly SummariesCase[] = Object.entries(promises).map(
  ([name, check]) => ({ name, check }),
);
