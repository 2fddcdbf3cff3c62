import type { Pool } from 'pg';
import {
  createPostgresDeadLetters,
  createPostgresInbox,
  createPostgresJournal,
  createPostgresStore,
} from 'posthorn/postgres';
import { createEvent } from 'posthorn/testing';
import { describe, expect, test } from 'vitest';
import { posthorn } from '../cli/posthorn.ts';
import { usePostgres } from '../stores/postgres/fixture.ts';
import { bookings } from '../stores/postgres/ledger.ts';
import { handledEntry } from '../support/handled-entry.ts';
import { accepted, openEndpoint } from '../support/open-endpoint.ts';
import { until } from '../support/until.ts';
import { recorded } from './fixtures.ts';
import { SCOPE } from './record.ts';
import { openPostgres, restoreDatabase } from './restored.ts';

const fixture = usePostgres();

/** A receiver of today on tables as they are. */
async function openReceiver(pool: Pool) {
  const inbox = createPostgresInbox(pool, { scope: SCOPE });
  const store = createPostgresStore(pool, { scope: SCOPE });
  const deadLetters = createPostgresDeadLetters(pool, { scope: SCOPE });
  return openEndpoint({ store, deadLetters }, (receiver) => {
    const book = inbox.once('book', async ({ id }, { transaction }) => {
      await transaction.query('insert into ledger (event_id) values ($1)', [id]);
    });
    receiver.on('transfer.*', book).on('dispute.*', () => {});
  });
}

describe('the tables of version 0.2.0', () => {
  const [version] = recorded.filter((each) => each.version === '0.2.0');
  if (version === undefined) throw new Error('the tables of version 0.2.0 are not recorded');

  test('serve all but the inbox before they are migrated, and the inbox says what to do', async () => {
    const database = restoreDatabase(fixture, version);
    const pool = fixture.connect({ database });
    const { send, reports, receiver } = await openReceiver(pool);
    const done = { ...createEvent('dispute.updated'), id: 'evt_done' };
    expect(await send(done)).toEqual(accepted('duplicate', 'evt_done'));
    const other = createEvent('dispute.updated');
    expect(await send(other)).toEqual(accepted('processed', other.id));
    expect((await receiver.health()).deadLetters).toMatchObject({ ok: true });
    const letter = await receiver.deadLetters?.get('evt_refused');
    expect(letter && (await receiver.drop(letter))).toBe(true);
    const store = createPostgresStore(pool, { scope: SCOPE });
    const dropped = await Promise.all(['evt_refused', 'none'].map((id) => store.peek?.({ id })));
    expect(dropped).toEqual([{ state: 'completed' }, { state: 'unknown' }]);

    const event = createEvent('transfer.updated');
    expect((await send(event)).status).toBe(500);
    const { error } = reports.all.at(-1) ?? {};
    expect(error?.message).toMatch(
      /older than this version: if this is the right database, run migratePostgres\(pool\) or "npx posthorn /,
    );

    const env = { POSTGRES_URL: `postgres://postgres@127.0.0.1:${fixture.postgres.port}/${database}` };
    expect(await posthorn(['postgres', 'migrate'], { env })).toMatchObject({ code: 0 });
    expect(await send(event)).toEqual(accepted('processed', event.id));
    expect(await bookings(pool, event)).toBe(1);
  });
});

describe.each(recorded.filter(({ hasPostgres }) => hasPostgres))(
  'the tables of version $version, before that of the journal,',
  (version) => {
    test('make the journal say what to do: events are handled all the same, and recorded once it is there', async () => {
      const database = restoreDatabase(fixture, version);
      const pool = fixture.connect({ database });
      // Version 0.3.0 was recorded with it.
      await pool.query(
        `drop table if exists posthorn.journal, posthorn.inbox_reruns;
        drop function if exists posthorn.record_rerun; delete from posthorn.migrations where version > 3`,
      );
      const journal = createPostgresJournal(pool, { scope: SCOPE });
      const store = createPostgresStore(pool, { scope: SCOPE });
      const { send, receiver } = await openEndpoint({ store, journal }, (opened) => opened.on('*', () => {}));
      const event = createEvent('dispute.updated');
      expect(await send(event)).toEqual(accepted('processed', event.id));
      await until('the journal has failed', async () => (await receiver.health()).journal?.ok === false);
      expect((await receiver.health()).journal).toMatchObject({
        waiting: 1,
        error: {
          message: expect.stringContaining('run migratePostgres(pool) or "npx posthorn postgres migrate"'),
        },
      });
      const env = { POSTGRES_URL: `postgres://postgres@127.0.0.1:${fixture.postgres.port}/${database}` };
      expect(await posthorn(['postgres', 'migrate'], { env })).toMatchObject({ code: 0 });
      await until('the entry is there', async () => (await journal.get(event.id))?.outcome === 'processed');
    });
  },
);

test('the rerun that version 0.3.0 has recorded is not run again', async () => {
  const [version] = recorded.filter((each) => each.version === '0.3.0');
  if (version === undefined) throw new Error('the tables of version 0.3.0 are not recorded');
  const { pool } = await openPostgres(fixture, version);
  const inbox = createPostgresInbox(pool, { scope: SCOPE });
  const { receiver } = await openEndpoint({}, (opened) => {
    const state = inbox.once('state', () => expect.unreachable(), { latest: () => 'SUB1' });
    opened.on('subscription.*', state);
  });
  const event = { ...createEvent('subscription.updated'), id: 'evt_state' };
  const entry = handledEntry(event, { handled: ['state'] });
  expect(await receiver.rerun(entry, { handlers: ['state'], run: 'fix' })).toMatchObject({
    outcome: 'duplicate',
    handlers: [{ name: 'state', skipped: 'handled_before' }],
  });
});
