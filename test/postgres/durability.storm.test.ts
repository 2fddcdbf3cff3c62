import type { Pool, PoolConfig } from 'pg';
import {
  createPostgresDeadLetters,
  createPostgresInbox,
  createPostgresStore,
  type PostgresInbox,
} from 'posthorn/postgres';
import { createEvent } from 'posthorn/testing';
import { beforeAll, describe, expect, test } from 'vitest';
import { createLetter } from '../dead-letters/conformance.ts';
import { openEndpoint } from '../support/open-endpoint.ts';
import { until } from '../support/until.ts';
import { usePostgres } from './fixture.ts';
import { bookings, createLedger, recordsOf } from './ledger.ts';
import { clientOf } from './pool-client.ts';

const scope = 'durable';
const times = { leaseMs: 20_000, retentionMs: 86_400_000, handled: [] };

/** A crash and a recovery take their time on a busy machine. */
const commandTimeoutMs = 15_000;

/** How `synchronous_commit` comes to be off: what is run before, and how the pool connects. */
interface Way {
  readonly way: string;
  readonly sql: string;
  readonly connection?: PoolConfig;
}

const ways: readonly Way[] = [
  { way: 'server', sql: 'alter system set synchronous_commit = off; select pg_reload_conf()' },
  { way: 'database', sql: 'alter database postgres set synchronous_commit = off' },
  {
    way: 'role',
    sql: 'create role forgetful superuser login; alter role forgetful set synchronous_commit = off',
    connection: { user: 'forgetful' },
  },
  { way: 'session', sql: '', connection: { options: '-c synchronous_commit=off' } },
];

/** What a 2xx rests on: does it, and resolves with what looks for it after a crash. */
type Deed = (pool: Pool, id: string) => Promise<(pool: Pool) => Promise<unknown>>;

const deeds: Readonly<Record<string, Deed>> = {
  'the record of an inbox and its effect': (pool, id) => handleIn(createPostgresInbox(pool, { scope }), id),
  'both through begin': (pool, id) =>
    handleIn(createPostgresInbox(pool, { scope, begin: clientOf(pool).begin }), id),
  'a completion': async (pool, id) => {
    const store = createPostgresStore(pool, { scope, commandTimeoutMs });
    await store.complete({ ...times, id, token: 'a' });
    return (later) => isCompleted(later, id);
  },
  'a completion that shares its statement with claims': async (pool, id) => {
    const store = createPostgresStore(pool, { scope, commandTimeoutMs });
    const claim = (other: string) => store.claim({ ...times, id: `${id} ${other}`, token: 'a' });
    await Promise.all([claim('first'), store.complete({ ...times, id, token: 'a' }), claim('last')]);
    return (later) => isCompleted(later, id);
  },
  'a letter': async (pool, id) => {
    await createPostgresDeadLetters(pool, { scope }).put(createLetter({ id }));
    return async (later) => (await createPostgresDeadLetters(later, { scope }).get(id))?.id === id;
  },
};

/** What the transactions of `pg` and of an inbox have in common. */
interface Transaction {
  query(text: string, values: unknown[]): Promise<unknown>;
}

async function handleIn(inbox: PostgresInbox<Transaction>, id: string) {
  const event = { ...createEvent('transfer.succeeded'), id };
  const { send } = await openEndpoint({}, (receiver) => {
    receiver.on(
      'transfer.*',
      inbox.once('book', (_event, { transaction }) =>
        transaction.query('insert into ledger values ($1)', [id]),
      ),
    );
  });
  expect(await send(event)).toMatchObject({ status: 200, body: { outcome: 'processed' } });
  return async (pool: Pool) =>
    (await bookings(pool, event)) === 1 && (await recordsOf(pool, event)).length === 1;
}

async function isCompleted(pool: Pool, id: string): Promise<boolean> {
  const store = createPostgresStore(pool, { scope, commandTimeoutMs });
  return (await store.claim({ ...times, id, token: 'b' })).state === 'completed';
}

describe('synchronous_commit = off', () => {
  describe.each(ways)('of the $way, and a crash after a 2xx, forget', ({ sql, connection }) => {
    // Between its rounds nothing is written to the disk but by a COMMIT that waits for it.
    const fixture = usePostgres({ wal_writer_delay: '10s', autovacuum: 'off' });
    const settingOf = async (pool: Pool) =>
      (await pool.query('show synchronous_commit')).rows[0]?.synchronous_commit;

    beforeAll(async () => {
      await createLedger(fixture.connect());
      fixture.postgres.sql(sql);
      const isOff = async () => (await settingOf(fixture.connect({ ...connection, max: 1 }))) === 'off';
      await until('the setting is off for new connections', isOff);
    });

    test.each(Object.entries(deeds))('nothing of %s', async (name, deed) => {
      const { postgres } = fixture;
      const isThere = await deed(fixture.connect(connection), `evt of ${name}`);
      await postgres.stop('kill');
      await postgres.restart();
      expect(await isThere(fixture.connect())).toBe(true);
    });
  });

  describe('raises nothing else', () => {
    const fixture = usePostgres();
    /** The settings with which transactions that wrote into each table were committed. */
    const committedWith = () =>
      fixture.postgres.sql(`select string_agg(distinct name || ' ' || setting, ', ' order by name || ' ' || setting)
        from committed; truncate committed`);

    beforeAll(async () => {
      await createLedger(fixture.connect());
      fixture.postgres.sql(`
        create table committed (name text, setting text);
        create function note() returns trigger language plpgsql as $function$ begin
          insert into committed values (tg_table_name, current_setting('synchronous_commit'));
          return null;
        end $function$;
        create constraint trigger note after insert or update on posthorn.inbox
        deferrable initially deferred for each row execute function note();
        create constraint trigger note after insert or update on posthorn.events
        deferrable initially deferred for each row execute function note();
        create constraint trigger note after insert or update on posthorn.dead_letters
        deferrable initially deferred for each row execute function note();`);
    });

    test.each([
      ['off', 'on'],
      ['on', 'on'],
      ['local', 'local'],
      ['remote_write', 'remote_write'],
      ['remote_apply', 'remote_apply'],
    ])('where it is %s, transactions that a 2xx rests on commit with %s', async (setting, raised) => {
      const pool = fixture.connect({ options: `-c synchronous_commit=${setting}`, max: 1 });
      const deadLetters = createPostgresDeadLetters(pool, { scope });
      for (const [name, deed] of Object.entries(deeds)) await deed(pool, `${setting} ${name}`);
      await deadLetters.remove(`${setting} a letter`);
      expect(committedWith()).toBe(`dead_letters ${raised}, events ${raised}, inbox ${raised}`);
      const store = createPostgresStore(pool, { scope, commandTimeoutMs });
      const claim = { ...times, id: `${setting} claimed`, token: 'a' };
      expect((await store.claim(claim)).state).toBe('claimed');
      expect((await store.renew(claim)).state).toBe('held');
      expect((await store.release(claim)).state).toBe('released');
      expect(committedWith()).toBe(`events ${setting}`);
      // The only connection, which would keep what is set in a session.
      expect((await pool.query('show synchronous_commit')).rows).toEqual([{ synchronous_commit: setting }]);
    });

    test('a handler sees it raised before it begins', async () => {
      const pool = fixture.connect({ options: '-c synchronous_commit=off' });
      const seen: unknown[] = [];
      const inbox = createPostgresInbox(pool, { scope });
      const { send } = await openEndpoint({}, (receiver) => {
        receiver.on(
          '*',
          inbox.once('look', async (_event, { transaction }) => {
            await transaction.query('savepoint before');
            await transaction.query('rollback to before');
            seen.push((await transaction.query('show synchronous_commit')).rows[0]);
          }),
        );
      });
      expect((await send(createEvent('transfer.succeeded'))).status).toBe(200);
      expect(seen).toEqual([{ synchronous_commit: 'on' }]);
    });
  });
});
