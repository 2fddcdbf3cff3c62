import { JournalError, type JournalSelection } from 'posthorn';
import { describe, expect, test } from 'vitest';
import { createMapJournal } from '../support/map-journal.ts';
import { throwing } from '../support/throwing.ts';
import { expectProblem } from './expectations.ts';
import { type Ask, fetchOperator, type MountOptions } from './mounts.ts';
import { bodyOf, createOperated, idOf, record } from './operated.ts';

const records = (count: number) => Array.from({ length: count }, (_, index) => record(index + 1));

function open(given = records(120), options?: MountOptions) {
  const operated = createOperated({ records: given });
  return { ...operated, ask: fetchOperator(operated.receiver, options) };
}

const idsFrom = async (ask: Ask, query: string): Promise<readonly string[]> =>
  (await ask(`/api/events${query}`)).body.events?.map(({ id }) => id) ?? [];

describe('the list of events', () => {
  test('has pages of 50, those first that were first received', async () => {
    const { ask } = open(records(120).reverse());
    expect((await ask('/api/events')).body.after).toBe(idOf(50));
    expect(await idsFrom(ask, `?after=${idOf(100)}`)).toEqual(
      records(120)
        .slice(100)
        .map(({ id }) => id),
    );
    expect((await ask(`/api/events?after=${idOf(100)}`)).body.after).toBeUndefined();
    expect((await ask('/api/events?limit=120')).body.after).toBeUndefined();
  });

  test('goes on after the key of an event whose key is not its id', async () => {
    const { ask } = open([record(1, { key: 'acct_1:evt_001', account: 'acct_1' }), record(2)]);
    expect((await ask('/api/events?limit=1')).body).toMatchObject({ after: 'acct_1:evt_001' });
    expect(await idsFrom(ask, '?limit=1&after=acct_1:evt_001')).toEqual([idOf(2)]);
  });

  test.each([
    ['type=dispute.*', [2]],
    ['outcome=failed', [3]],
    ['resource=tr_4', [4]],
    [`since=${record(3).firstReceivedAt}`, [3, 4]],
    [`until=${record(2).firstReceivedAt}`, [1]],
    ['type=transfer.*&outcome=processed', [1, 4]],
  ])('selects by %s', async (query, expected) => {
    const { ask } = open([
      record(1),
      record(2, { type: 'dispute.won' }),
      record(3, { outcome: 'failed', code: 'handler_failed' }),
      record(4, { resource: 'tr_4' }),
    ]);
    expect(await idsFrom(ask, `?${query}`)).toEqual(expected.map(idOf));
  });

  test('asks for no bodies, and shows none', async () => {
    const selections: (JournalSelection | undefined)[] = [];
    const journal = createMapJournal(new Map(records(3).map((one) => [one.id, one])));
    const { receiver } = createOperated({
      journal: {
        ...journal,
        // A journal of an application may give them all the same.
        list: (selection) => {
          selections.push(selection);
          return journal.list({ limit: selection?.limit });
        },
      },
    });
    const { text } = await fetchOperator(receiver)('/api/events?type=transfer.*');
    expect(selections).toEqual([{ type: 'transfer.*', limit: 51, bodies: false }]);
    expect(text).not.toMatch(/rawBody|headers|amount|finality/);
  });

  test.each(['outcome=lost', 'outcome=', 'resource=a&resource=b', 'reason=x', 'limit=201', 'until='])(
    'refuses %s',
    async (query) => {
      expectProblem(await open([]).ask(`/api/events?${query}`), 400, 'request_invalid');
    },
  );
});

describe('one event', () => {
  const stored = record(1, { headers: { 'x-trace': ['t-1'] }, key: 'acct_1:evt_001', account: 'acct_1' });

  test('is found by its key, with its content for an operator with bodies', async () => {
    const { rawBody: _, finality: __, decidedAt: ___, ...rest } = stored;
    const path = `/api/events/${encodeURIComponent('acct_1:evt_001')}`;
    expect((await open([stored]).ask(path)).body).toEqual({ ...rest, body: bodyOf(idOf(1)).toString() });
    const { headers: ____, ...summary } = rest;
    const authorize = () => ({ name: 'bob' });
    expect((await open([stored], { authorize }).ask(path)).body).toEqual(summary);
  });

  test('is shown without a body if the journal has none', async () => {
    const { ask } = open([record(1, { rawBody: undefined, headers: undefined })]);
    expect(Object.keys((await ask(`/api/events/${idOf(1)}`)).body)).not.toContain('body');
  });

  test('that is not there, or is several, is a problem', async () => {
    expectProblem(await open([]).ask('/api/events/none'), 404, 'journal_entry_missing');
    const get = throwing(new JournalError('journal_id_ambiguous', 'two senders gave evt_001'));
    const { receiver } = createOperated({ journal: { ...createMapJournal(), get } });
    expect(expectProblem(await fetchOperator(receiver)('/api/events/x'), 409, 'journal_id_ambiguous')).toBe(
      'two senders gave evt_001',
    );
  });
});

test('a receiver without a journal says so', async () => {
  const ask = fetchOperator(createOperated().receiver);
  for (const path of ['/api/events', '/api/events/x']) expectProblem(await ask(path), 404, 'journal_missing');
  const body = { handlers: ['none'], run: 'mend', selection: {} };
  expectProblem(await ask('/api/events/rerun', { body }), 404, 'journal_missing');
});

test('a journal that is away is a problem', async () => {
  const list = throwing(new JournalError('journal_unavailable', 'the server is away'));
  const { receiver } = createOperated({ journal: { ...createMapJournal(), list } });
  expectProblem(await fetchOperator(receiver)('/api/events'), 503, 'journal_unavailable');
});
