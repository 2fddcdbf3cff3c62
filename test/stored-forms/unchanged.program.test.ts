import { Redis } from 'ioredis';
import type { Pool } from 'pg';
import { migratePostgres } from 'posthorn/postgres';
import { describe, expect, test } from 'vitest';
import { usePostgres } from '../stores/postgres/fixture.ts';
import { useRedis } from '../stores/redis/fixture.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { recorded } from './fixtures.ts';
import { recordFiles, recordPostgres, recordRedis } from './record.ts';
import { recordSandbox } from './record-sandbox.ts';
import type { RedisKey } from './redis-form.ts';
import { restoreDatabase } from './restored.ts';
import { today } from './version.ts';

const CHANGED =
  'what posthorn stores has another form than before: see "How a stored form changes" in CONTRIBUTING.md';

/** A form without its values: the members of objects, the number of parts, and the types of values. */
function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shapeOf);
  if (typeof value !== 'object' || value === null) return parsed(value) ?? typeof value;
  const members = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1));
  return Object.fromEntries(members.map(([name, member]) => [name, shapeOf(member)]));
}

/** The shape of a text that holds JSON in turn. */
function parsed(value: unknown): unknown {
  return typeof value === 'string' && /^[{[]/.test(value) ? shapeOf(JSON.parse(value)) : undefined;
}

/** The members of a job that posthorn writes. BullMQ has others, and keys of its own. */
const JOB_MEMBERS = ['data', 'name', 'opts', 'progress'];

function shapesOfKeys(keys: readonly RedisKey[]): unknown {
  const jobs = keys.filter(({ key, type }) => type === 'hash' && key.startsWith('{posthorn}:stored:event-'));
  const own = keys.filter(({ key }) => !key.startsWith('{posthorn}'));
  const members = jobs.map(({ key, value }) => [
    key,
    Object.fromEntries(Object.entries(Object(value)).filter(([name]) => JOB_MEMBERS.includes(name))),
  ]);
  return shapeOf({
    jobs: Object.fromEntries(members),
    ...Object.fromEntries(own.map(({ key, ttlMs, value }) => [key, { ttlMs, value }])),
  });
}

/** The columns, indexes and functions of a schema. */
async function tablesIn(pool: Pool): Promise<unknown[]> {
  const { rows } = await pool.query(`
select table_name as name, string_agg(column_name || ' ' || data_type, ', ' order by column_name) as form
from information_schema.columns where table_schema = 'posthorn' group by table_name
union all select indexname, indexdef from pg_indexes where schemaname = 'posthorn'
union all select oid::regprocedure::text, prosrc from pg_proc where pronamespace = 'posthorn'::regnamespace
order by name`);
  return rows;
}

/** The columns of each row that are not null. */
async function rowsIn(pool: Pool): Promise<unknown> {
  const tables = ['events', 'dead_letters', 'inbox', 'inbox_latest', 'inbox_reruns', 'migrations'];
  const rows = tables.map(async (table) => {
    const found = await pool.query(
      `select jsonb_strip_nulls(to_jsonb(one)) as one from posthorn.${table} as one order by ${KEYS[table]}`,
    );
    // The names of its members are tokens, which differ each time.
    const withoutTokens = ({ one: { refused, ...rest } }: { readonly one: { readonly refused?: object } }) =>
      shapeOf({ ...rest, refused: Object.values(refused ?? {}) });
    return [table, found.rows.map(withoutTokens)];
  });
  return Object.fromEntries(await Promise.all(rows));
}

const KEYS: Readonly<Record<string, string>> = {
  events: 'key',
  dead_letters: 'key',
  inbox: 'event_key, handler',
  inbox_latest: 'key',
  inbox_reruns: 'event_key, handler, run',
  migrations: 'version',
};

describe('the version that was recorded last', () => {
  const redisFixture = useRedis();
  const postgresFixture = usePostgres();
  const last = recorded.at(-1);
  if (last === undefined) throw new Error('no version is recorded');

  test('has the keys of Redis and the jobs of today', async () => {
    const redis = redisFixture.keep(new Redis({ port: redisFixture.redis.port }));
    const now = JSON.parse(await recordRedis(today, redis));
    expect(shapesOfKeys(now), CHANGED).toEqual(shapesOfKeys(last.redis()));
  });

  test('has the tables and rows of today', async () => {
    const { postgres, connect } = postgresFixture;
    postgres.sql('create database today');
    const now = connect({ database: 'today' });
    await recordPostgres(today, now, `postgres://postgres@127.0.0.1:${postgres.port}/today`);
    const then = connect({ database: restoreDatabase(postgresFixture, last) });
    expect(await tablesIn(now), CHANGED).toEqual(await tablesIn(then));
    expect(await rowsIn(now), CHANGED).toEqual(await rowsIn(then));
  });

  test('has the files of today', async () => {
    const letters = await recordFiles(today, temporaryDirectory());
    const shapes = (files: ReadonlyMap<string, string>) => shapeOf(Object.fromEntries(files));
    expect(shapes(letters), CHANGED).toEqual(shapes(last.letters(0)));
    expect(shapeOf(JSON.parse(await recordSandbox(today))), CHANGED).toEqual(
      shapeOf(JSON.parse(last.sandbox())),
    );
  });

  test('has tables to which those of every version can be migrated', async () => {
    const tables: unknown[] = [];
    for (const version of recorded.filter(({ hasPostgres }) => hasPostgres)) {
      const pool = postgresFixture.connect({ database: restoreDatabase(postgresFixture, version) });
      await migratePostgres(pool);
      tables.push(await tablesIn(pool));
    }
    expect(new Set(tables.map((each) => JSON.stringify(each))).size).toBe(1);
  });
});
