import type { Pool, PoolConfig } from 'pg';
import { beforeAll, describe, expect, test } from 'vitest';
import { until } from '../../support/until.ts';
import { deeds } from './durable-deeds.ts';
import { usePostgres } from './fixture.ts';
import { createLedger } from './ledger.ts';

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
});
