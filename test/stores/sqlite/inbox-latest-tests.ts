import { createSqliteInbox, type RankedKey } from 'posthorn/sqlite';
import { createEvent } from 'posthorn/testing';
import { beforeEach, describe, expect, test } from 'vitest';
import { errorOf } from '../../support/error-of.ts';
import { openEndpoint } from '../../support/open-endpoint.ts';
import { throwing } from '../../support/throwing.ts';
import type { Connection, OpenDatabase } from './connection.ts';
import { useSqlite } from './fixture.ts';
import { recordsOf } from './ledger.ts';

const scope = 'latest-test';
const AT = '2026-05-04T03:02:01Z';
const LATER = '2026-05-04T03:02:02Z';
const EARLIER = '2026-05-04T03:02:00Z';

/** What `latest` of an inbox promises. */
export function testLatest(openDatabase: OpenDatabase): void {
  describe('latest of an inbox in SQLite', () => {
    const fixture = useSqlite(openDatabase);
    let database: Connection;
    beforeEach(async () => {
      database = await fixture.openMigrated();
      database.exec('create table transfers (id text primary key, state text)');
    });

    /** A receiver whose handler keeps the state of a transfer. */
    const open = (latest: (data: { readonly [name: string]: unknown }) => string | RankedKey | undefined) =>
      openEndpoint({ maxEventAgeMs: Number.POSITIVE_INFINITY }, (receiver) => {
        const inbox = createSqliteInbox(database, { scope });
        receiver.on(
          'transfer.*',
          inbox.once(
            'state',
            ({ data }, context) => {
              const upsert = context.database.prepare('insert or replace into transfers values (?, ?)');
              upsert.run(String(data.id), String(data.state));
            },
            { latest: ({ data }) => latest(data) },
          ),
        );
      });

    const eventOf = (id: string, state: string, created_at: string, rank?: number) => ({
      ...createEvent('transfer.updated', { id, state, rank }),
      created_at,
    });

    const stateOf = (id: string): unknown =>
      Object.values(database.prepare('select state from transfers where id = ?').get(id) ?? {})[0];

    test.each<[string, [string, number?], [string, number?], 'a' | 'b']>([
      ['a later instant', [AT], [LATER], 'b'],
      ['an earlier instant', [AT], [EARLIER], 'a'],
      [
        'microseconds of the same millisecond',
        ['2026-05-04T03:02:01.000002Z'],
        ['2026-05-04T03:02:01.000001Z'],
        'a',
      ],
      ['fractions of several lengths', ['2026-05-04T03:02:01.5Z'], ['2026-05-04T03:02:01.50Z'], 'b'],
      ['a shorter fraction that is later', ['2026-05-04T03:02:01.45Z'], ['2026-05-04T03:02:01.5Z'], 'b'],
      ['a higher rank of the same instant', [AT, 1], [AT, 2], 'b'],
      ['a lower rank of the same instant', [AT, 2], [AT, 1], 'a'],
      ['an equal rank of the same instant, in order of arrival', [AT, 2], [AT, 2], 'b'],
      ['a lower rank of a later instant', [AT, 2], [LATER, 1], 'b'],
      ['a higher rank of an earlier instant', [AT, 1], [EARLIER, 2], 'a'],
      ['the same instant in another form', [AT, 2], ['2026-05-04T05:02:01.000+02:00', 1], 'a'],
      ['a key alone, whose rank is 0, after a rank above it', [AT, 1], [AT], 'a'],
      ['a rank below 0 after a key alone', [AT], [AT, -1], 'a'],
      [
        'the least rank after the greatest',
        [AT, Number.MAX_SAFE_INTEGER],
        [AT, Number.MIN_SAFE_INTEGER],
        'a',
      ],
      ['ranks that differ by 1 at the end', [AT, 2 ** 53 - 1], [AT, 2 ** 53 - 2], 'a'],
    ])('compares %s', async (name, [first, firstRank], [second, secondRank], expected) => {
      const { send, reports } = await open(({ id, rank }) =>
        typeof rank === 'number' ? { key: String(id), rank } : String(id),
      );
      const events = [eventOf(name, 'a', first, firstRank), eventOf(name, 'b', second, secondRank)];
      for (const event of events) await send(event);
      expect(stateOf(name)).toBe(expected);
      expect(reports.all.map(({ status, handlers }) => [status, handlers[0]?.skipped])).toEqual([
        [200, undefined],
        [200, expected === 'a' ? 'superseded' : undefined],
      ]);
      // An event that was skipped is handled.
      for (const event of events) expect(recordsOf(database, event)).toEqual(['state']);
    });

    test('remembers nothing of a handler that fails', async () => {
      const { send } = await open(({ id }) => String(id));
      const failing = await openEndpoint({ maxEventAgeMs: Number.POSITIVE_INFINITY }, (receiver) => {
        const inbox = createSqliteInbox(database, { scope });
        const handler = inbox.once('state', throwing('no'), { latest: () => 'TR' });
        receiver.on('transfer.*', handler);
      });
      expect((await failing.send(eventOf('TR', 'b', LATER))).status).toBe(500);
      expect((await send(eventOf('TR', 'a', AT))).status).toBe(200);
      expect(stateOf('TR')).toBe('a');
    });

    test('leaves each of 100 transfers in its last state, in whatever order its events of a second come', async () => {
      const states = ['PENDING', 'SUBMITTED', 'SUCCEEDED'];
      const { send } = await open(({ id, state }) => ({
        key: String(id),
        rank: states.indexOf(String(state)),
      }));
      const ids = Array.from({ length: 100 }, (_, number) => `TR${number}`);
      const shuffled = ids
        .flatMap((id) => states.map((state) => ({ event: eventOf(id, state, AT), place: Math.random() })))
        .sort((one, other) => one.place - other.place);
      while (shuffled.length > 0) {
        const answers = await Promise.all(shuffled.splice(0, 60).map(({ event }) => send(event)));
        expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
      }
      expect(new Set(ids.map(stateOf))).toEqual(new Set(['SUCCEEDED']));
    });

    test('fails the attempt if it is async, and lets no rejection end the process', async () => {
      const { send, reports } = await open(() => Object(Promise.reject(new Error('no'))));
      expect((await send(createEvent('transfer.updated'))).status).toBe(500);
      expect(reports.all[0]?.error?.cause).toMatchObject(errorOf('inbox_latest_invalid', 'no promise'));
    });

    test.each([undefined, ''])('fails the attempt without a key: %j', async (key) => {
      const { send, reports } = await open(() => key);
      expect((await send(createEvent('transfer.updated'))).status).toBe(500);
      expect(reports.all[0]?.error?.cause).toMatchObject({ code: 'inbox_latest_invalid' });
    });
  });
}
