import { createPostgresInbox } from 'posthorn/postgres';
import { createEvent } from 'posthorn/testing';
import { beforeAll, describe, expect, test } from 'vitest';
import { ampleDeadlines } from '../../support/limits.ts';
import { on, openEndpoint } from '../../support/open-endpoint.ts';
import { useDatabase } from './fixture.ts';

const AT = '2026-05-04T03:02:01Z';

/** Of a transfer, from the first to the last. */
const STATES = ['PENDING', 'SUBMITTED', 'SUCCEEDED'];

describe('the ranks of latest', () => {
  const fixture = useDatabase();
  const pool = fixture.connect();
  beforeAll(() => pool.query('create table transfers (id text primary key, state text)'));

  test('leave each of 200 transfers in its last state, in whatever order its events of a second come', async () => {
    const { send } = await openEndpoint(
      { maxEventAgeMs: Number.POSITIVE_INFINITY, ...ampleDeadlines },
      on(
        'transfer.*',
        createPostgresInbox(pool, { scope: 'ranks-test' }).once(
          'state',
          ({ data }, { transaction: { query } }) =>
            query('insert into transfers values ($1, $2) on conflict (id) do update set state = $2', [
              data.id,
              data.state,
            ]),
          { latest: ({ data: { id = '', state } }) => ({ key: id, rank: STATES.indexOf(String(state)) }) },
        ),
      ),
    );
    const ids = Array.from({ length: 200 }, (_, number) => `TR${number}`);
    const events = ids.flatMap((id) =>
      STATES.map((state) => ({ ...createEvent('transfer.updated', { id, state }), created_at: AT })),
    );
    const shuffled = events
      .map((event) => ({ event, place: Math.random() }))
      .sort((one, other) => one.place - other.place);
    // Side by side, but no more at once than are handled before their deadline on a slow machine.
    while (shuffled.length > 0) {
      const answers = await Promise.all(shuffled.splice(0, 60).map(({ event }) => send(event)));
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    }
    const { rows } = await pool.query(
      "select state, count(*)::int from transfers where id like 'TR%' group by state",
    );
    expect(rows).toEqual([{ state: 'SUCCEEDED', count: 200 }]);
  });
});
