import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Pool } from 'pg';
import { createPostgresInbox, migratePostgres } from 'posthorn/postgres';
import { createEvent } from 'posthorn/testing';
import { describe, expect, test } from 'vitest';
import { recordRankedSql } from '../../../src/stores/postgres/inbox/sql-functions.ts';
import { migrationSql } from '../../../src/stores/postgres/migrate.ts';
import { awaitedLater } from '../../support/awaited-later.ts';
import { packageRoot } from '../../support/child-program.ts';
import { expectCause } from '../../support/error-of.ts';
import { ampleDeadlines } from '../../support/limits.ts';
import { on, openEndpoint } from '../../support/open-endpoint.ts';
import { until } from '../../support/until.ts';
import { rerunBook } from '../kit/inbox/rerun-cases.ts';
import { useDatabase } from './fixture.ts';
import { untilOneWaits } from './ledger.ts';

const scope = 'upgrade-test';
const AT = '2026-05-04T03:02:01Z';

describe('tables of an earlier version', () => {
  const fixture = useDatabase();

  async function createSchema(schema: string, version: number): Promise<Pool> {
    const pool = fixture.connect();
    const sql = readFileSync(join(packageRoot, 'test', 'stores', 'postgres', 'version-1.sql'), 'utf8');
    await pool.query(sql.replaceAll('"posthorn"', `"${schema}"`));
    if (version === 1) return pool;
    await pool.query(`do $do$ begin ${recordRankedSql(`"${schema}"`)}
insert into "${schema}".migrations (version) values (2); end $do$`);
    return pool;
  }

  /** What a process of version 1 sends as it begins a handler with `latest`. */
  const recordOld = (schema: string, key: string) =>
    `select "${schema}".record_handled('${scope}', '${createEvent('transfer.updated').id}', 'state', '30000ms', '${key}', '${AT}')`;

  /** What a process of version 1 or 2 sends for operations on one id. */
  const operateOld = (schema: string, key: string, names: readonly string[]) => {
    const each = (value: unknown) => `'{${names.map(() => value)}}'`;
    const late = each(Date.now() + 60_000);
    return `select "${schema}".operate(5000, '${scope}', ${late}, '{${names}}', ${each(key)}, ${each('a')}, ${each(0)}, ${each(60_000)}, ${each(0)})`;
  };
  const claimOld = (schema: string, key: string) => operateOld(schema, key, ['claim']);
  const isWaiting = async (pool: Pool, table: string): Promise<boolean> => {
    const locks = 'select from pg_locks where relation = $1::regclass and not granted';
    return (await pool.query(locks, [table])).rows.length > 0;
  };

  test.each([1, 2])('of version %s keep what an old process has written, and compare it', async (version) => {
    const schema = `kept_${version}`;
    const pool = await createSchema(schema, version);
    await pool.query(recordOld(schema, 'TR1'));
    await Promise.all([1, 2].map(() => migratePostgres(pool, { schema })));
    const inbox = createPostgresInbox(pool, { scope, schema });
    const ran: unknown[] = [];
    const { send } = await openEndpoint(
      { ...ampleDeadlines, maxEventAgeMs: Number.POSITIVE_INFINITY },
      on(
        'transfer.*',
        inbox.once('state', ({ data }) => ran.push(data.rank), {
          latest: ({ data }) => ({ key: data.id, rank: Number(data.rank) }),
        }),
      ),
    );
    for (const rank of [-1, 1, 0]) {
      const event = { ...createEvent('transfer.updated', { id: 'TR1', rank }), created_at: AT };
      expect((await send(event)).status).toBe(200);
    }
    expect(ran).toEqual([1]);
  });

  test.each([
    {
      version: 1,
      work: 'handler',
      table: 'inbox_latest',
      send: recordOld,
      added: { rank: null, rank_at: null },
    },
    { version: 2, work: 'claim', table: 'events', send: claimOld, added: { refused: null } },
  ])(
    'of version $version are migrated while a $work runs, which holds up no others meanwhile',
    async (of) => {
      const { version, table, send, added } = of;
      const schema = `busy_${version}`;
      const pool = await createSchema(schema, version);
      const running = await pool.connect();
      await running.query(`begin; ${send(schema, 'TR1')}`);
      const migrated = awaitedLater(migratePostgres(pool, { schema }));
      await until('the migration waits', () => isWaiting(pool, `"${schema}".${table}`));
      // As an old process does: it looks again a little later.
      await until('another has run', async () => {
        try {
          await pool.query(send(schema, 'TR2'));
          return true;
        } catch (error) {
          expect(error).toMatchObject({ code: '55P03' });
          return false;
        }
      });
      await running.query('commit');
      running.release();
      await migrated;
      await pool.query(send(schema, 'TR1'));
      const columns = ['key', ...Object.keys(added)].join(', ');
      const { rows } = await pool.query(`select ${columns} from "${schema}".${table} order by key`);
      expect(rows).toEqual(['TR1', 'TR2'].map((key) => ({ key, ...added })));
    },
  );

  test('of version 2 are migrated while operations of an old process wait for that', async () => {
    const pool = await createSchema('waiting', 2);
    const migrating = await pool.connect();
    await migrating.query('begin; lock table waiting.events in access exclusive mode');
    const operations = awaitedLater(pool.query(operateOld('waiting', 'TR1', ['claim', 'release'])));
    await until('the operations wait', () => isWaiting(pool, 'waiting.events'));
    await migrating.query(`${migrationSql('waiting')}commit`);
    migrating.release();
    const { rows } = await operations;
    expect(rows).toEqual([{ operate: expect.stringMatching(/\nclaimed 1 0 0 1 \nreleased$/) }]);
  });

  describe('of version 4, which had no reruns,', () => {
    /** Migration 5 only adds these. */
    const createWithoutReruns = async (schema: string): Promise<Pool> => {
      const pool = fixture.connect();
      await migratePostgres(pool, { schema });
      await pool.query(`drop table "${schema}".inbox_reruns; drop function "${schema}".record_rerun;
        delete from "${schema}".migrations where version = 5`);
      return pool;
    };
    const openRerun = (pool: Pool, schema: string, work: () => unknown = () => {}) =>
      openEndpoint(
        ampleDeadlines,
        on('transfer.*', createPostgresInbox(pool, { scope, schema }).once('book', work)),
      );

    test('are enough for deliveries, and a rerun says what to do', async () => {
      const pool = await createWithoutReruns('none');
      const { receiver, reports, send } = await openRerun(pool, 'none');
      const event = createEvent('transfer.succeeded');
      expect((await send(event)).status).toBe(200);
      expect(await rerunBook({ receiver }, event, 'fix')).toMatchObject({ outcome: 'failed' });
      expectCause(reports.all[1], 'configuration_invalid', `run migratePostgres(pool, { schema: 'none' })`);
      await migratePostgres(pool, { schema: 'none' });
      expect(await rerunBook({ receiver }, event, 'fix')).toMatchObject({ outcome: 'processed' });
    });

    test('are not pruned before they have reruns, so that no record goes alone', async () => {
      const pool = await createWithoutReruns('unpruned');
      const record = `insert into unpruned.inbox values ('${scope}', 'evt_1', 'book', to_timestamp(0))`;
      await pool.query(record);
      const inbox = createPostgresInbox(pool, { scope, schema: 'unpruned' });
      await expect(inbox.prune({ olderThanMs: 60_000 })).rejects.toThrow('run migratePostgres(pool');
      expect((await pool.query('select handler from unpruned.inbox')).rows).toEqual([{ handler: 'book' }]);
      await migratePostgres(pool, { schema: 'unpruned' });
      expect(await inbox.prune({ olderThanMs: 60_000 })).toBe(1);
    });

    test('are migrated while a handler of that version runs, which a rerun waits for', async () => {
      const pool = await createWithoutReruns('beside');
      const event = createEvent('transfer.succeeded');
      const recordBefore = `select beside.record_ranked('${scope}', '${event.id}', 'book', '30000ms', null, null, null)`;
      const running = await pool.connect();
      await running.query(`begin; ${recordBefore}`);
      await migratePostgres(pool, { schema: 'beside' });
      let hasEnded = false;
      const { receiver } = await openRerun(pool, 'beside', () => expect(hasEnded).toBe(true));
      const rerun = awaitedLater(rerunBook({ receiver }, event, 'fix'));
      await Promise.race([rerun, untilOneWaits(pool, 'record_rerun')]);
      hasEnded = true;
      await running.query('commit');
      running.release();
      expect(await rerun).toMatchObject({ outcome: 'processed' });
    });

    test('are migrated, and a process of that version does not run what a rerun has recorded', async () => {
      const pool = await createWithoutReruns('after');
      await migratePostgres(pool, { schema: 'after' });
      const { receiver } = await openRerun(pool, 'after');
      const event = createEvent('transfer.succeeded');
      expect(await rerunBook({ receiver }, event, 'fix')).toMatchObject({ outcome: 'processed' });
      const { rows } = await pool.query(
        `select after.record_ranked('${scope}', '${event.id}', 'book', '30000ms', null, null, null) as recorded`,
      );
      expect(rows).toEqual([{ recorded: 'handled_before' }]);
    });
  });
});
