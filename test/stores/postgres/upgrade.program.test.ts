import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Pool } from 'pg';
import { createPostgresInbox, migratePostgres } from 'posthorn/postgres';
import { createEvent } from 'posthorn/testing';
import { describe, expect, test } from 'vitest';
import { awaitedLater } from '../../support/awaited-later.ts';
import { packageRoot } from '../../support/child-program.ts';
import { ampleDeadlines } from '../../support/limits.ts';
import { on, openEndpoint } from '../../support/open-endpoint.ts';
import { until } from '../../support/until.ts';
import { useDatabase } from './fixture.ts';

const scope = 'upgrade-test';
const AT = '2026-05-04T03:02:01Z';

describe('tables of version 1', () => {
  const fixture = useDatabase();

  async function createSchema(schema: string): Promise<Pool> {
    const pool = fixture.connect();
    const sql = readFileSync(join(packageRoot, 'test', 'stores', 'postgres', 'version-1.sql'), 'utf8');
    await pool.query(sql.replaceAll('"posthorn"', `"${schema}"`));
    return pool;
  }

  /** What a process of version 1 sends as it begins a handler with `latest`. */
  const recordOld = (schema: string, key: string) =>
    `select "${schema}".record_handled('${scope}', '${createEvent('transfer.updated').id}', 'state', '5000ms', '${key}', '${AT}')`;

  test('keep what an old process has written, and compare it', async () => {
    const schema = 'kept';
    const pool = await createSchema(schema);
    await pool.query(recordOld(schema, 'TR1'));
    await migratePostgres(pool, { schema });
    await migratePostgres(pool, { schema });
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

  test('are migrated while a handler runs, which holds up no others meanwhile', async () => {
    const schema = 'busy';
    const pool = await createSchema(schema);
    const running = await pool.connect();
    await running.query(`begin; ${recordOld(schema, 'TR1')}`);
    const migrated = awaitedLater(migratePostgres(pool, { schema }));
    await until('the migration waits for the handler', async () => {
      const { rows } = await pool.query(
        'select 1 from pg_locks where relation = $1::regclass and not granted',
        [`"${schema}".inbox_latest`],
      );
      return rows.length > 0;
    });
    // As an old process does: a run whose row is locked looks again a little later.
    await until('another handler has run', async () => {
      try {
        await pool.query(recordOld(schema, 'TR2'));
        return true;
      } catch (error) {
        expect(error).toMatchObject({ code: '55P03' });
        return false;
      }
    });
    await running.query('commit');
    running.release();
    await migrated;
    await pool.query(recordOld(schema, 'TR1'));
    const { rows } = await pool.query(`select key, rank, rank_at from "${schema}".inbox_latest order by key`);
    expect(rows).toEqual(['TR1', 'TR2'].map((key) => ({ key, rank: null, rank_at: null })));
  });
});
