import { createReceiver, type DeadLetter, type DeadLetters, type Store } from 'posthorn';
import { beforeAll, describe, expect, test } from 'vitest';
import { letter } from '../cli/letters.ts';
import { ampleDeadlines } from '../support/limits.ts';
import { KEY } from '../support/served.ts';
import { silenced } from '../support/silenced.ts';
import { type OperatorClient, resultsOf, serveOperator } from './operator-client.ts';

/** A store, and dead letters beside it. */
export interface StoreOfLetters {
  readonly store: Store;
  readonly deadLetters: DeadLetters;
}

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

/** Proves that a deed took those of a selection, the first of which has this index, and no neighbour. */
async function expectLeft(client: OperatorClient, first: number): Promise<void> {
  for (const start of [0, 5_000, COUNT - 40]) {
    const [taken, left] = [idAt(start + first), idAt(start + 2)];
    expect((await client.get(`dead-letters/${taken}`)).status, taken).toBe(404);
    expect((await client.get(`dead-letters/${left}`)).status, left).toBe(200);
  }
}

/** The tests of an interface whose store has ten thousand dead letters. */
export function describeManyLetters(open: () => Promise<StoreOfLetters>): void {
  describe('with ten thousand dead letters', () => {
    let opened: StoreOfLetters | undefined;
    beforeAll(async () => {
      opened = await open();
      await fill(opened.deadLetters);
    });

    const serve = async (): Promise<{ client: OperatorClient; runs: string[] }> => {
      silenced('info');
      const runs: string[] = [];
      const receiver = createReceiver({ signingKey: KEY, ...ampleDeadlines, ...opened })
        .on('*', ({ id }) => void runs.push(id))
        .observe(() => {});
      return { client: await serveOperator(receiver), runs };
    };

    const listed = async (
      client: OperatorClient,
      query: Readonly<Record<string, string>>,
    ): Promise<readonly string[]> => {
      const all: string[] = [];
      for await (const { deadLetters = [] } of client.pages('dead-letters', query))
        all.push(...deadLetters.map(({ id }) => id));
      return all;
    };

    test('pages through all of them give each once, the oldest first', async () => {
      const { client } = await serve();
      const ids: string[] = [];
      const times: number[] = [];
      for await (const { deadLetters = [] } of client.pages('dead-letters', { limit: '200' })) {
        expect(deadLetters.length).toBeLessThanOrEqual(200);
        ids.push(...deadLetters.map(({ id }) => id));
        times.push(...deadLetters.map(({ parkedAt }) => parkedAt));
      }
      expect(times).toEqual(times.toSorted((one, other) => one - other));
      expect(ids.toSorted()).toEqual(idsWhere(() => true));
    });

    test('a list has those that match its filters', async () => {
      const { client } = await serve();
      const timedOut = await listed(client, { reason: 'handler_timeout', limit: '7' });
      expect(timedOut).toEqual(idsWhere((index) => index % 40 === 1));
      const [since, until] = [String(parkedAtOf(3_000)), String(parkedAtOf(3_300))];
      const between = await listed(client, { type: 'transfer.*', since, until, limit: '200' });
      expect(between.toSorted()).toEqual(idsWhere((index) => index >= 3_000 && index < 3_300));
    });

    test.each(['dead-letters/replay', 'dead-letters/drop'] as const)(
      'a dry run of %s counts a selection, and does nothing',
      async (deed) => {
        const { client, runs } = await serve();
        let counted = 0;
        const selection = { type: 'transfer.*', until: parkedAtOf(6_000) };
        for await (const { count = 0 } of client.follow(deed, { selection, dryRun: true })) counted += count;
        expect(counted).toBe(6_000);
        expect(runs).toEqual([]);
      },
    );

    test('a replay of a selection runs each once, and takes no other', async () => {
      const { client, runs } = await serve();
      const ids = idsWhere((index) => index % 40 === 0);
      const answers = client.follow('dead-letters/replay', { selection: { type: 'transfer.failed' } });
      const results = await resultsOf(answers);
      expect(runs).toEqual(ids);
      expect(results.map(({ id, outcome }) => `${id} ${outcome}`)).toEqual(
        ids.map((id) => `${id} processed`),
      );
      await expectLeft(client, 0);
    });

    test('a drop of a selection drops each once, and takes no other', async () => {
      const { client, runs } = await serve();
      const ids = idsWhere((index) => index % 40 === 1);
      const answers = client.follow('dead-letters/drop', { selection: { reason: 'handler_timeout' } });
      const results = await resultsOf(answers);
      expect(results.map(({ id, outcome }) => `${id} ${outcome}`)).toEqual(ids.map((id) => `${id} dropped`));
      expect(runs).toEqual([]);
      await expectLeft(client, 1);
    });
  });
}
