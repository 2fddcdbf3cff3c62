import { createReceiver, type DeadLetter, type DeadLetters, type Store } from 'posthorn';
import { beforeAll, describe, expect, test } from 'vitest';
import { letter } from '../cli/letters.ts';
import { ampleDeadlines } from '../support/limits.ts';
import { KEY } from '../support/served.ts';
import { silenced } from '../support/silenced.ts';
import { type Ask, serveOperator } from './mounts.ts';
import { pages, portions, resultsOf } from './to-the-end.ts';

/** A store, and dead letters beside it. */
export interface StoreOfLetters {
  readonly store: Store;
  readonly deadLetters: DeadLetters;
}

const LETTERS = '/api/dead-letters';
const COUNT = 10_000;
const FIRST_PARKED_AT = Date.now() - 86_400_000;

/** Three at a time are parked in the same second. */
const parkedAtOf = (index: number): number => FIRST_PARKED_AT + Math.floor(index / 3) * 1_000;

/** Each fortieth is of another type, and the one after it has another reason. */
function letterAt(index: number): DeadLetter {
  const changes = {
    0: { type: 'transfer.failed' },
    1: { reason: 'handler_timeout' },
  }[index % 40];
  return letter(idAt(index), { parkedAt: parkedAtOf(index), ...changes });
}

const idAt = (index: number): string => `evt_${String(index).padStart(5, '0')}`;
const idsWhere = (isWanted: (index: number) => boolean): readonly string[] =>
  Array.from({ length: COUNT }, (_, index) => index)
    .filter(isWanted)
    .map(idAt);

async function fill({ put }: DeadLetters): Promise<void> {
  const atOnce = 250;
  for (let start = 0; start < COUNT; start += atOnce)
    await Promise.all(Array.from({ length: atOnce }, (_, index) => put(letterAt(start + index))));
}

/** Serves an interface of the filled store, and notes which events it runs. */
type Serve = () => Promise<{ readonly ask: Ask; readonly runs: readonly string[] }>;

/** The tests of an interface whose store has ten thousand dead letters. */
export function describeManyLetters(open: () => Promise<StoreOfLetters>): void {
  describe('with ten thousand dead letters', () => {
    let opened: StoreOfLetters | undefined;
    beforeAll(async () => {
      opened = await open();
      await fill(opened.deadLetters);
    });

    const serve: Serve = async () => {
      silenced('info');
      const runs: string[] = [];
      const receiver = createReceiver({ signingKey: KEY, ...ampleDeadlines, ...opened })
        .on('*', ({ id }) => void runs.push(id))
        .observe(() => {});
      return { ask: await serveOperator(receiver), runs };
    };

    // Deeds take dead letters away, which lists expect.
    testLists(serve);
    testForecasts(serve);
    testDeeds(serve);
  });
}

function testLists(serve: Serve): void {
  test('pages through all of them give each once, the oldest first', async () => {
    const { ask } = await serve();
    const ids: string[] = [];
    const times: number[] = [];
    for await (const { deadLetters = [] } of pages(ask, LETTERS, { limit: '200' })) {
      expect(deadLetters.length).toBeLessThanOrEqual(200);
      ids.push(...deadLetters.map(({ id }) => id));
      times.push(...deadLetters.map(({ parkedAt }) => parkedAt));
    }
    expect(times).toEqual(times.toSorted((one, other) => one - other));
    expect(ids.toSorted()).toEqual(idsWhere(() => true));
  });

  test('a list has those that match its filters', async () => {
    const { ask } = await serve();
    const timedOut = await listed(ask, { reason: 'handler_timeout', limit: '7' });
    expect(timedOut).toEqual(idsWhere((index) => index % 40 === 1));
    const [since, until] = [String(parkedAtOf(3_000)), String(parkedAtOf(3_300))];
    const between = await listed(ask, { type: 'transfer.*', since, until, limit: '200' });
    expect(between.toSorted()).toEqual(idsWhere((index) => index >= 3_000 && index < 3_300));
  });
}

async function listed(ask: Ask, query: Readonly<Record<string, string>>): Promise<readonly string[]> {
  const all: string[] = [];
  for await (const { deadLetters = [] } of pages(ask, LETTERS, query))
    all.push(...deadLetters.map(({ id }) => id));
  return all;
}

function testForecasts(serve: Serve): void {
  test.each(['replay', 'drop'])('a dry run of a %s counts a selection, and does nothing', async (deed) => {
    const { ask, runs } = await serve();
    let counted = 0;
    const body = { selection: { type: 'transfer.*', until: parkedAtOf(6_000) }, dryRun: true };
    for await (const { count = 0 } of portions(ask, `${LETTERS}/${deed}`, body)) counted += count;
    expect(counted).toBe(6_000);
    expect(runs).toEqual([]);
  });
}

function testDeeds(serve: Serve): void {
  test('a replay of a selection runs each once, and takes no other', async () => {
    const { ask, runs } = await serve();
    const ids = idsWhere((index) => index % 40 === 0);
    const results = await resultsOf(ask, `${LETTERS}/replay`, { selection: { type: 'transfer.failed' } });
    expect(runs).toEqual(ids);
    expect(results.map(({ id, outcome }) => `${id} ${outcome}`)).toEqual(ids.map((id) => `${id} processed`));
    await expectLeft(ask, 0);
  });

  test('a drop of a selection drops each once, and takes no other', async () => {
    const { ask, runs } = await serve();
    const ids = idsWhere((index) => index % 40 === 1);
    const results = await resultsOf(ask, `${LETTERS}/drop`, { selection: { reason: 'handler_timeout' } });
    expect(results.map(({ id, outcome }) => `${id} ${outcome}`)).toEqual(ids.map((id) => `${id} dropped`));
    expect(runs).toEqual([]);
    await expectLeft(ask, 1);
  });
}

/** Proves that a deed took those of a selection, the first of which has this index, and no neighbour. */
async function expectLeft(ask: Ask, first: number): Promise<void> {
  for (const start of [0, 5_000, COUNT - 40]) {
    const [taken, left] = [idAt(start + first), idAt(start + 2)];
    expect((await ask(`${LETTERS}/${taken}`)).status, taken).toBe(404);
    expect((await ask(`${LETTERS}/${left}`)).status, left).toBe(200);
  }
}
