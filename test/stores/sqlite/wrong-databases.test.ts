import {
  createSqliteDeadLetters,
  createSqliteInbox,
  createSqliteStore,
  migrateSqlite,
} from 'posthorn/sqlite';
import { describe, expect, test } from 'vitest';

const scope = 'wrong-test';

const functions = {
  createSqliteStore: (database: unknown) =>
    Reflect.apply(createSqliteStore, undefined, [database, { scope }]),
  createSqliteDeadLetters: (database: unknown) =>
    Reflect.apply(createSqliteDeadLetters, undefined, [database, { scope }]),
  createSqliteInbox: (database: unknown) =>
    Reflect.apply(createSqliteInbox, undefined, [database, { scope }]),
  migrateSqlite: (database: unknown) => Reflect.apply(migrateSqlite, undefined, [database]),
};

const wrong: Record<string, unknown> = {
  undefined,
  null: null,
  'a path': '/var/lib/billing/events.db',
  'a promise of a connection': Promise.resolve({ exec: () => {}, prepare: () => {} }),
  'a connection without prepare': { exec: () => {} },
  'a connection without exec': { prepare: () => {} },
  'a pool of PostgreSQL': { connect: () => {}, query: () => {} },
  'an option in its place': { scope },
};

describe.each(Object.entries(functions))('%s', (name, call) => {
  test.each(Object.entries(wrong))('refuses %s, and says what it takes', async (_what, database) => {
    await expect(async () => call(database)).rejects.toMatchObject({
      code: 'configuration_invalid',
      message: `${name} takes a database of node:sqlite or better-sqlite3: new DatabaseSync('events.db') or new Database('events.db')`,
    });
  });
});
