import type { DeadLetters } from 'posthorn';
import { DeadLetterError } from 'posthorn';
import { describe, expect, test } from 'vitest';
import { createMapDeadLetters } from '../support/map-dead-letters.ts';
import { expectProblem } from './expectations.ts';
import { type Ask, fetchOperator } from './mounts.ts';
import { createOperated, idOf, letter, letters, NOW } from './operated.ts';

const LIST = '/api/dead-letters';

const open = (parked = letters(120)) => {
  const operated = createOperated({ parked });
  return { ...operated, ask: fetchOperator(operated.receiver) };
};

const idsFrom = async (ask: Ask, query: string): Promise<readonly string[]> =>
  (await ask(`${LIST}${query}`)).body.deadLetters?.map(({ id }) => id) ?? [];

const idsOf = (first: number, last: number): string[] =>
  Array.from({ length: last - first + 1 }, (_, index) => idOf(first + index));

describe('the pages of a list', () => {
  test('have 50 dead letters, the oldest first, until the end', async () => {
    const { ask } = open(letters(120).reverse());
    const first = await ask(LIST);
    expect(first.body).toEqual({ deadLetters: expect.any(Array), after: idOf(50) });
    const pages = [await idsFrom(ask, '')];
    for (const after of [idOf(50), idOf(100)]) pages.push(await idsFrom(ask, `?after=${after}`));
    expect(pages).toEqual([idsOf(1, 50), idsOf(51, 100), idsOf(101, 120)]);
    expect(Object.keys((await ask(`${LIST}?after=${idOf(100)}`)).body)).toEqual(['deadLetters']);
  });

  test('have as many as limit says, and no place to go on if it fits exactly', async () => {
    const { ask } = open(letters(7));
    expect(await idsFrom(ask, '?limit=3')).toEqual(idsOf(1, 3));
    expect((await ask(`${LIST}?limit=3&after=${idOf(3)}`)).body.after).toBe(idOf(6));
    expect((await ask(`${LIST}?limit=7`)).body.after).toBeUndefined();
    expect((await ask(`${LIST}?limit=200`)).body.deadLetters).toHaveLength(7);
  });

  test('go on after a dead letter that is gone', async () => {
    const { ask, receiver } = open(letters(7));
    await receiver.deadLetters?.remove(idOf(3));
    expect(await idsFrom(ask, `?limit=2&after=${idOf(3)}`)).toEqual([idOf(4), idOf(5)]);
  });

  test('have nothing if there is nothing', async () => {
    expect((await open([]).ask(LIST)).body).toEqual({ deadLetters: [] });
  });
});

describe('a filter', () => {
  const parked = [
    letter(1, { type: 'transfer.created' }),
    letter(2, { type: 'dispute.won', reason: 'event_too_old' }),
    letter(3, { type: undefined, reason: 'json_invalid' }),
    letter(4, { type: 'merchant.verification.failed' }),
  ];
  const at = (n: number): number => letter(n).parkedAt;

  test.each([
    ['type=transfer.created', [1]],
    ['type=transfer.*', [1]],
    ['type=merchant.*', [4]],
    ['type=*', [1, 2, 3, 4]],
    ['type=transfer.failed', []],
    ['reason=event_too_old', [2]],
    ['reason=handler_failed', [1, 4]],
    ['reason=', []],
    [`since=${at(3)}`, [3, 4]],
    [`until=${at(3)}`, [1, 2]],
    [`since=${at(2)}&until=${at(4)}`, [2, 3]],
    [`type=*&reason=handler_failed&since=${at(2)}`, [4]],
  ])('%s selects what fits', async (query, expected) => {
    expect(await idsFrom(open(parked).ask, `?${query}`)).toEqual(expected.map(idOf));
  });

  test('keeps a page full, however few fit', async () => {
    const { ask } = open(
      letters(120).map((one, index) => (index % 40 === 0 ? { ...one, reason: 'x' } : one)),
    );
    expect((await ask(`${LIST}?reason=x&limit=2`)).body).toMatchObject({
      deadLetters: [{ id: idOf(1) }, { id: idOf(41) }],
      after: idOf(41),
    });
    expect(await idsFrom(ask, `?reason=x&limit=2&after=${idOf(41)}`)).toEqual([idOf(81)]);
  });
});

describe('a wrong query is refused:', () => {
  test.each([
    ['limit=0', 'limit'],
    ['limit=201', 'limit'],
    ['limit=-1', 'limit'],
    ['limit=1.5', 'limit'],
    ['limit=ten', 'limit'],
    ['limit=', 'limit'],
    ['limit=%20', 'limit'],
    ['limit=0x10', 'limit'],
    ['limit=1e1', 'limit'],
    ['since=yesterday', 'since'],
    ['since=2026-05-04', 'since'],
    ['since=', 'since'],
    ['until=', 'until'],
    ['until=Infinity', 'until'],
    ['until=99999999999999999999', 'until'],
    ['type=', 'type'],
    ['type=transfer.*.x', 'type'],
    ['type=a%20b', 'type'],
    ['after=', 'after'],
    ['page=2', 'page'],
    ['Limit=2', 'Limit'],
    ['__proto__=2', '__proto__'],
    ['constructor=2', 'constructor'],
    ['limit=2&limit=3', 'twice'],
    ['limit=2&limit=2', 'twice'],
  ])('%s', async (query, named) => {
    expect(expectProblem(await open([]).ask(`${LIST}?${query}`), 400, 'request_invalid')).toContain(named);
  });

  test.each(['/api/health', '/api/deliveries', '/api/receivers', '/api/openapi.json', `${LIST}/${idOf(1)}`])(
    'any query for %s',
    async (path) => {
      const { ask } = open(letters(1));
      expect((await ask(path)).status).toBe(200);
      expectProblem(await ask(`${path}?limit=2`), 400, 'request_invalid');
    },
  );
});

test('a list has shortened messages, and one dead letter has the whole one', async () => {
  const message = `${'x'.repeat(600)} the end`;
  const { ask } = open([letter(1, { message })]);
  const [listed] = (await ask(LIST)).body.deadLetters ?? [];
  expect(listed?.message).toBe(`${'x'.repeat(500)}…`);
  expect((await ask(`${LIST}/${idOf(1)}`)).body).toMatchObject({ message });
});

test('a dead letter is listed with all that is known of it, but neither with its body nor its headers', async () => {
  const own = {
    eventId: 'evt',
    provider: 'stripe',
    account: 'acct_1',
    lastTriedAt: NOW,
    runningUntil: NOW + 1,
  };
  const whole = letter(1, { ...own, handled: ['book'] });
  const { rawBody: _, headers: __, ...summary } = whole;
  const extra = { ...whole, secret: 'of a later version' };
  expect((await open([extra]).ask(LIST)).body).toEqual({ deadLetters: [summary] });
});

describe('dead letters with summaries', () => {
  /** Dead letters whose `list` would read bodies. */
  function openSummaries(parked = letters(60)) {
    const map = createMapDeadLetters(new Map(parked.map((one) => [one.id, one])));
    const calls: string[] = [];
    const deadLetters: DeadLetters = {
      ...map,
      list: (options) => {
        calls.push('list');
        return map.list(options);
      },
      async *summaries(options) {
        calls.push(`summaries ${JSON.stringify(options)}`);
        for await (const { rawBody: _, headers: __, ...summary } of map.list(options)) yield summary;
      },
    };
    const { handled, receiver } = createOperated({ deadLetters });
    return { ask: fetchOperator(receiver), calls, handled };
  }

  test('are listed by them alone', async () => {
    const { ask, calls } = openSummaries();
    expect(await idsFrom(ask, '')).toEqual(idsOf(1, 50));
    expect(await idsFrom(ask, `?after=${idOf(50)}`)).toEqual(idsOf(51, 60));
    expect(calls).toEqual(['summaries {"limit":51}', `summaries {"after":"${idOf(50)}","limit":51}`]);
  });

  test('are chosen and counted by them alone', async () => {
    const { ask, calls, handled } = openSummaries(letters(2));
    await ask(`${LIST}/replay`, { body: { selection: {}, dryRun: true } });
    await ask(`${LIST}/replay`, { body: { selection: {} } });
    expect(handled).toEqual(idsOf(1, 2));
    expect(calls).not.toContain('list');
  });
});

test('a damaged dead letter is named at the end of the list, and hides no other', async () => {
  const map = createMapDeadLetters(new Map(letters(3).map((one) => [one.id, one])));
  const deadLetters: DeadLetters = {
    ...map,
    async *list(options) {
      yield* map.list(options);
      throw new DeadLetterError('dead_letter_unreadable', 'evt_000 is damaged');
    },
  };
  const ask = fetchOperator(createOperated({ deadLetters }).receiver);
  expect((await ask(LIST)).body).toEqual({
    deadLetters: [expect.anything(), expect.anything(), expect.anything()],
    unreadable: 'evt_000 is damaged',
  });
  const selection = { body: { selection: {}, dryRun: true } };
  expect((await ask(`${LIST}/drop`, selection)).body).toMatchObject({
    count: 3,
    unreadable: 'evt_000 is damaged',
  });
});

test('a damaged dead letter early among 70 is named on the first page and in the first portion', async () => {
  const map = createMapDeadLetters(new Map(letters(70).map((one) => [one.id, one])));
  const deadLetters: DeadLetters = {
    ...map,
    async *list(options) {
      let isDamaged = false;
      let left = options?.limit ?? 70;
      for await (const one of map.list({ after: options?.after })) {
        if (left === 0) break;
        if (one.id === idOf(5)) isDamaged = true;
        else {
          left -= 1;
          yield one;
        }
      }
      if (isDamaged) throw new DeadLetterError('dead_letter_unreadable', `${idOf(5)} is damaged`);
    },
  };
  const ask = fetchOperator(createOperated({ deadLetters }).receiver);
  const unreadable = `${idOf(5)} is damaged`;
  expect((await ask(LIST)).body).toMatchObject({ unreadable });
  expect((await ask(`${LIST}?limit=10`)).body).toMatchObject({ after: idOf(11), unreadable });
  const portion = (await ask(`${LIST}/replay`, { body: { selection: {} } })).body;
  expect(portion).toMatchObject({ next: { after: idOf(21) }, unreadable });
  expect(portion.results).toHaveLength(20);
});

test('a receiver without dead letters says so', async () => {
  const ask = fetchOperator(createOperated({ deadLetters: undefined }).receiver);
  for (const path of [LIST, `${LIST}/${idOf(1)}`])
    expectProblem(await ask(path), 404, 'dead_letters_missing');
  const body = { selection: {} };
  for (const deed of ['replay', 'drop'])
    expectProblem(await ask(`${LIST}/${deed}`, { body }), 404, 'dead_letters_missing');
});
