import { createPostgresInbox, type PostgresInbox, type RankedKey } from 'posthorn/postgres';
import { createEvent } from 'posthorn/testing';
import { beforeAll, describe, expect, test } from 'vitest';
import { ampleDeadlines } from '../../support/limits.ts';
import { type Endpoint, openEndpoint } from '../../support/open-endpoint.ts';
import { useDatabase } from './fixture.ts';
import { isInboxError } from './inbox-failure.ts';
import { recordsOf } from './ledger.ts';

const scope = 'ranks-test';
const AT = '2026-05-04T03:02:01Z';
const LATER = '2026-05-04T03:02:02Z';
const EARLIER = '2026-05-04T03:02:00Z';

describe('the ranks of latest', () => {
  const fixture = useDatabase();
  const pool = fixture.connect();
  beforeAll(() => pool.query('create table transfers (id text primary key, state text)'));

  const openWith = (once: (inbox: PostgresInbox) => ReturnType<PostgresInbox['once']>): Promise<Endpoint> =>
    openEndpoint({ ...ampleDeadlines, maxEventAgeMs: Number.POSITIVE_INFINITY }, (receiver) => {
      receiver.on('transfer.*', once(createPostgresInbox(pool, { scope })));
    });

  /** A receiver whose handler keeps the state of a transfer. */
  const open = (
    latest: (data: { readonly id?: string; readonly [name: string]: unknown }) => string | RankedKey,
  ) =>
    openEndpoint({ ...ampleDeadlines, maxEventAgeMs: Number.POSITIVE_INFINITY }, (receiver) => {
      receiver.on(
        'transfer.*',
        createPostgresInbox(pool, { scope }).once(
          'state',
          ({ data }, { transaction: { query } }) =>
            query('insert into transfers values ($1, $2) on conflict (id) do update set state = $2', [
              data.id,
              data.state,
            ]),
          { latest: ({ data }) => latest(data) },
        ),
      );
    });

  /** A receiver whose events say their rank; one without is a key alone. */
  const openRanked = () => open(({ id = '', rank }) => (typeof rank === 'number' ? { key: id, rank } : id));

  const eventOf = (id: string, state: string | undefined, created_at: string, rank?: number) => ({
    ...createEvent('transfer.updated', { id, state, rank }),
    created_at,
  });

  async function stateOf(id: string): Promise<unknown> {
    const { rows } = await pool.query<{ state: string }>('select state from transfers where id = $1', [id]);
    return rows[0]?.state;
  }

  /** What a process of version 1 does with an event. */
  async function recordByOldProcess(key: string, createdAt: string): Promise<unknown> {
    const { rows } = await pool.query<{ recorded: string }>(
      'select posthorn.record_handled($1, $2, $3, $4, $5, $6) as recorded',
      [scope, createEvent('transfer.updated').id, 'state', '5000ms', key, createdAt],
    );
    return rows[0]?.recorded;
  }

  test.each<[string, [string, number?], [string, number?], 'a' | 'b']>([
    ['a higher rank of the same instant', [AT, 1], [AT, 2], 'b'],
    ['a lower rank of the same instant', [AT, 2], [AT, 1], 'a'],
    ['an equal rank of the same instant, in order of arrival', [AT, 2], [AT, 2], 'b'],
    ['a lower rank of a later instant', [AT, 2], [LATER, 1], 'b'],
    ['a higher rank of an earlier instant', [AT, 1], [EARLIER, 2], 'a'],
    ['the same instant in another form', [AT, 2], ['2026-05-04T05:02:01.000+02:00', 1], 'a'],
    ['a key alone, whose rank is 0, after a rank above it', [AT, 1], [AT], 'a'],
    ['a key alone after a rank below it', [AT, -1], [AT], 'b'],
    ['a rank below 0 after a key alone', [AT], [AT, -1], 'a'],
    ['the rank 0 after a key alone', [AT], [AT, 0], 'b'],
    ['the least rank after the greatest', [AT, Number.MAX_SAFE_INTEGER], [AT, Number.MIN_SAFE_INTEGER], 'a'],
    ['ranks that differ by 1 at the end', [AT, 2 ** 53 - 1], [AT, 2 ** 53 - 2], 'a'],
  ])('compare %s', async (name, [first, firstRank], [second, secondRank], expected) => {
    const { send, reports } = await openRanked();
    await send(eventOf(name, 'a', first, firstRank));
    await send(eventOf(name, 'b', second, secondRank));
    expect(await stateOf(name)).toBe(expected);
    const skipped = expected === 'a' ? 'superseded' : undefined;
    expect(reports.all.map(({ status, handlers }) => [status, handlers[0]?.skipped])).toEqual([
      [200, undefined],
      [200, skipped],
    ]);
  });

  test('belong to their instant: a guard that an old process has moved on has the rank 0', async () => {
    const { send } = await openRanked();
    await send(eventOf('moved', 'new', AT, 5));
    expect(await recordByOldProcess('moved', EARLIER)).toBe('superseded');
    expect(await recordByOldProcess('moved', LATER)).toMatch(/^\d+$/);
    await send(eventOf('moved', 'below', LATER, -1));
    expect(await stateOf('moved')).toBe('new');
    await send(eventOf('moved', 'above', LATER, 1));
    expect(await stateOf('moved')).toBe('above');
    await send(eventOf('moved', 'below again', LATER, 0));
    expect(await stateOf('moved')).toBe('above');
  });

  test('a guard that an old process has made has the rank 0', async () => {
    const { send } = await openRanked();
    expect(await recordByOldProcess('made', AT)).toMatch(/^\d+$/);
    await send(eventOf('made', 'below', AT, -1));
    expect(await stateOf('made')).toBeUndefined();
    await send(eventOf('made', 'above', AT, 1));
    expect(await stateOf('made')).toBe('above');
  });

  test.each([
    [{ key: 'TR', rank: 1.5 }, 'a safe integer as rank, got 1.5'],
    [{ key: 'TR', rank: Number.NaN }, 'a safe integer as rank, got NaN'],
    [{ key: 'TR', rank: Number.POSITIVE_INFINITY }, 'a safe integer as rank, got Infinity'],
    [{ key: 'TR', rank: 2 ** 53 }, 'a safe integer as rank, got 9007199254740992'],
    [{ key: 'TR', rank: '1' }, 'a safe integer as rank, got "1"'],
    [{ key: 'TR', rank: 1n }, 'a safe integer as rank, got 1n'],
    [{ key: 'TR', rank: null }, 'a safe integer as rank, got null'],
    [{ key: 'TR' }, 'a safe integer as rank, got undefined'],
    [{ key: undefined, rank: 1 }, 'a text as key of { key, rank }, and no promise, got undefined'],
    [{ key: '', rank: 1 }, 'a text as key of { key, rank }, and no promise, got ""'],
    [null, 'a text, got null'],
    ['', 'a text, got ""'],
    [Promise.resolve('TR'), 'a text as key of { key, rank }, and no promise, got undefined'],
  ])('fail the attempt if they are wrong: %o', async (given, complaint) => {
    await failsWith(() => given, complaint);
  });

  test('a promise that rejects fails its attempt alone', async () => {
    await failsWith(async () => {
      throw new Error('no key');
    }, 'a text as key of { key, rank }, and no promise, got undefined');
  });

  async function failsWith(latest: () => unknown, complaint: string): Promise<void> {
    const { send, reports } = await openWith((inbox) =>
      Reflect.apply(inbox.once, inbox, ['state', () => expect.unreachable(), { latest }]),
    );
    const event = createEvent('transfer.updated');
    expect((await send(event)).status).toBe(500);
    const cause = reports.all[0]?.error?.cause;
    expect(isInboxError(cause, 'inbox_latest_invalid')).toBe(true);
    expect(cause).toMatchObject({
      message: expect.stringContaining(`latest of the handler "state" must give ${complaint}`),
    });
    expect(await recordsOf(pool, event)).toEqual([]);
  }
});
