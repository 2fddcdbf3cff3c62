import { createRequire } from 'node:module';
import { expect, test } from 'vitest';
import type { Driver } from './connection.ts';
import { useSqlite } from './fixture.ts';

// Why docs/sqlite.md says that libsql is not supported. If these fail, a later libsql is better: then the
// page and test/stores/sqlite/connection.ts change.

const Libsql: Driver = createRequire(import.meta.url)('libsql');
const fixture = useSqlite();

test('libsql keeps the values of a call that has failed for the next call', () => {
  const database = new Libsql(fixture.path, { timeout: 0 });
  database.exec('create table events (id text check (length(id) < 5))');
  const insert = database.prepare('insert into events values (?) returning id');
  expect(() => insert.get('too long')).toThrow('CHECK constraint failed');
  expect(() => insert.get('good')).toThrow('CHECK constraint failed');
  database.close();
});

test('libsql writes to a file that it has opened as read-only', () => {
  const database = new Libsql(fixture.path, { timeout: 0 });
  database.exec('create table events (id text)');
  database.close();
  const readonly = new Libsql(fixture.path, { timeout: 0, readonly: true });
  expect(() => readonly.exec("insert into events values ('written')")).not.toThrow();
  readonly.close();
});
