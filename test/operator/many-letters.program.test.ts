import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createPostgresDeadLetters, createPostgresStore } from 'posthorn/postgres';
import { createRedisDeadLetters, createRedisStore } from 'posthorn/redis';
import { createSqliteDeadLetters, createSqliteStore, migrateSqlite } from 'posthorn/sqlite';
import { afterAll, describe } from 'vitest';
import { useDatabase } from '../stores/postgres/fixture.ts';
import { useRedis } from '../stores/redis/fixture.ts';
import { openDatabase } from '../stores/sqlite/driver.ts';
import { ampleTime } from '../support/limits.ts';
import { describeManyLetters } from './many-letters.ts';

const options = { scope: 'many', ...ampleTime } as const;

describe('an interface of operators on PostgreSQL', () => {
  const fixture = useDatabase();

  describeManyLetters(async () => {
    const pool = fixture.connect();
    return {
      store: createPostgresStore(pool, options),
      deadLetters: createPostgresDeadLetters(pool, options),
    };
  });
});

describe('an interface of operators on SQLite', () => {
  let close = (): void => {};
  afterAll(() => close());

  describeManyLetters(async () => {
    const directory = mkdtempSync(join(tmpdir(), 'posthorn-sqlite-'));
    const database = openDatabase(join(directory, 'events.db'));
    close = () => {
      database.close();
      rmSync(directory, { recursive: true });
    };
    await migrateSqlite(database);
    return {
      store: createSqliteStore(database, options),
      deadLetters: createSqliteDeadLetters(database, options),
    };
  });
});

describe('an interface of operators on Redis', () => {
  const fixture = useRedis();

  describeManyLetters(async () => {
    const client = await fixture.connect();
    return {
      store: createRedisStore(client, options),
      deadLetters: createRedisDeadLetters(client, options),
    };
  });
});
