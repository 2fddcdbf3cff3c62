import { createPostgresDeadLetters, createPostgresInbox, createPostgresStore } from 'posthorn/postgres';
import { createEvent } from 'posthorn/testing';
import { beforeAll, describe, expect, test } from 'vitest';
import { ampleDeadlines, ampleTime } from '../../support/limits.ts';
import { openEndpoint } from '../../support/open-endpoint.ts';
import { deeds, scope, times } from './durable-deeds.ts';
import { useDatabase } from './fixture.ts';
import { createLedger } from './ledger.ts';

describe('a transaction that a 2xx rests on', () => {
  const fixture = useDatabase();
  /** The settings with which transactions that wrote into each table were committed. */
  const committedWith = () =>
    fixture.sql(`select string_agg(distinct name || ' ' || setting, ', ' order by name || ' ' || setting)
      from committed; truncate committed`);

  beforeAll(async () => {
    await createLedger(fixture.connect());
    await fixture.sql(`
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
  ])(
    'where synchronous_commit is %s commits with %s, and others with what it is',
    async (setting, raised) => {
      const pool = fixture.connect({ options: `-c synchronous_commit=${setting}`, max: 1 });
      const deadLetters = createPostgresDeadLetters(pool, { scope, ...ampleTime });
      for (const [name, deed] of Object.entries(deeds)) await deed(pool, `${setting} ${name}`);
      await deadLetters.remove(`${setting} a letter`);
      expect(await committedWith()).toBe(`dead_letters ${raised}, events ${raised}, inbox ${raised}`);
      const store = createPostgresStore(pool, { scope, ...ampleTime });
      const claim = { ...times, id: `${setting} claimed`, token: 'a' };
      expect((await store.claim(claim)).state).toBe('claimed');
      expect((await store.renew(claim)).state).toBe('held');
      expect((await store.release(claim)).state).toBe('released');
      expect(await committedWith()).toBe(`events ${setting}`);
      // The only connection, which would keep what is set in a session.
      expect((await pool.query('show synchronous_commit')).rows).toEqual([{ synchronous_commit: setting }]);
    },
  );

  test('of a handler has synchronous_commit raised before it begins', async () => {
    const pool = fixture.connect({ options: '-c synchronous_commit=off' });
    const seen: unknown[] = [];
    const inbox = createPostgresInbox(pool, { scope });
    const { send } = await openEndpoint(ampleDeadlines, (receiver) => {
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
