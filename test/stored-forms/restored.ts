import { mkdtempSync, utimesSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import type { Pool } from 'pg';
import type { DeadLetters, Store } from 'posthorn';
import { createFileDeadLetters } from 'posthorn/file';
import { createPostgresDeadLetters, createPostgresStore, migratePostgres } from 'posthorn/postgres';
import { createRedisDeadLetters, createRedisStore } from 'posthorn/redis';
import type { Fixture as PostgresFixture } from '../stores/postgres/fixture.ts';
import type { Fixture as RedisFixture } from '../stores/redis/fixture.ts';
import { ampleTime } from '../support/limits.ts';
import { removeAtEnd } from '../support/reaper.ts';
import type { Recorded } from './fixtures.ts';
import { SCOPE, writeFiles } from './record.ts';
import { restoreRedis } from './redis-form.ts';

/** What a version has stored, opened by today's code. */
export interface Opened {
  readonly store: Store;
  readonly deadLetters: DeadLetters;
  /** The arguments and the environment by which the program `posthorn` finds the letters. */
  readonly place: { readonly args: readonly string[]; readonly env: NodeJS.ProcessEnv };
}

/** Restores what a version has stored in Redis, and nothing else. */
export async function openRedis(
  { redis: { port }, keep }: RedisFixture,
  recorded: Recorded,
  elapsedMs = 0,
): Promise<Opened & { readonly redis: Redis }> {
  const redis = keep(new Redis({ port }));
  await redis.flushall();
  await restoreRedis(redis, recorded.redis(elapsedMs), elapsedMs);
  return {
    redis,
    store: createRedisStore(redis, { scope: SCOPE, ...ampleTime }),
    deadLetters: createRedisDeadLetters(redis, { scope: SCOPE }),
    place: { args: ['--scope', SCOPE], env: { SCOPE, REDIS_URL: `redis://127.0.0.1:${port}` } },
  };
}

let databases = 0;

function nextDatabase(): string {
  databases += 1;
  return `restored_${databases}`;
}

/** Restores a database of a version; its tables are as the version has made them. */
export function restoreDatabase({ postgres }: PostgresFixture, recorded: Recorded, elapsedMs = 0): string {
  const database = nextDatabase();
  postgres.sql(`create database ${database}`);
  postgres.sql(recorded.postgres(elapsedMs), database);
  return database;
}

/** The databases that were restored and migrated, by their servers. */
const templates = new WeakMap<PostgresFixture, Map<string, Promise<string>>>();

/** A database to copy from, because each test has one of its own and a copy takes a third of the time. */
function templateOf(fixture: PostgresFixture, recorded: Recorded, elapsedMs: number): Promise<string> {
  const own = templates.get(fixture) ?? new Map<string, Promise<string>>();
  templates.set(fixture, own);
  const key = `${recorded.version} ${elapsedMs}`;
  const template = own.get(key) ?? restoreAndMigrate(fixture, recorded, elapsedMs);
  own.set(key, template);
  return template;
}

async function restoreAndMigrate(
  fixture: PostgresFixture,
  recorded: Recorded,
  elapsedMs: number,
): Promise<string> {
  const database = restoreDatabase(fixture, recorded, elapsedMs);
  const pool = fixture.connect({ database });
  await migratePostgres(pool);
  // A database with connections cannot be copied.
  await pool.end();
  return database;
}

/** Restores what a version has stored in PostgreSQL, and migrates the tables. */
export async function openPostgres(
  fixture: PostgresFixture,
  recorded: Recorded,
  elapsedMs = 0,
): Promise<Opened & { readonly pool: Pool }> {
  const template = await templateOf(fixture, recorded, elapsedMs);
  const database = nextDatabase();
  fixture.postgres.sql(`create database ${database} template ${template}`);
  const pool = fixture.connect({ database });
  return {
    pool,
    store: createPostgresStore(pool, { scope: SCOPE, ...ampleTime }),
    deadLetters: createPostgresDeadLetters(pool, { scope: SCOPE }),
    place: {
      args: ['--scope', SCOPE],
      env: { SCOPE, POSTGRES_URL: `postgres://postgres@127.0.0.1:${fixture.postgres.port}/${database}` },
    },
  };
}

/** Restores the letters of a version in a directory, which is removed with the test. */
export function openFiles(recorded: Recorded, elapsedMs: number): Pick<Opened, 'deadLetters' | 'place'> {
  const directory = mkdtempSync(join(tmpdir(), 'posthorn-letters-'));
  removeAtEnd(directory);
  const letters = recorded.letters(elapsedMs);
  writeFiles(directory, letters);
  for (const [name, text] of letters) {
    // The time of a file is when its letter was parked; git does not keep it.
    const parkedAt = JSON.parse(text).parkedAt / 1_000;
    utimesSync(join(directory, name), parkedAt, parkedAt);
  }
  const deadLetters = createFileDeadLetters(directory);
  return { deadLetters, place: { args: ['--dir', directory], env: { DIRECTORY: directory } } };
}
