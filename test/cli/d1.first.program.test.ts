import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { d1Migration } from 'posthorn/d1';
import { expect, test } from 'vitest';
import type { Connection } from '../stores/sqlite/connection.ts';
import { useSqlite } from '../stores/sqlite/fixture.ts';
import { packageRoot } from '../support/child-program.ts';
import { jsonLines, posthorn } from './posthorn.ts';

const fixture = useSqlite();

/** What wrangler would have: the SQL of each table and index. */
const schemaOf = (connection: Connection) =>
  connection.prepare('select name, sql from sqlite_schema order by name').all();

test('d1 sql prints the migration, which SQLite takes', async () => {
  const printed = await posthorn(['d1', 'sql']);
  expect(printed).toEqual({ code: 0, stdout: d1Migration, stderr: '' });
  expect(jsonLines(await posthorn(['d1', 'sql', '--json']))).toEqual([{ sql: d1Migration }]);
  const connection = fixture.open();
  connection.exec(printed.stdout);
  const tables = connection
    .prepare("select name from sqlite_schema where type = 'table' order by name")
    .all();
  expect(tables).toEqual([
    { name: 'posthorn_dead_letter_parts' },
    { name: 'posthorn_dead_letters' },
    { name: 'posthorn_events' },
    { name: 'posthorn_migrations' },
  ]);
  expect(connection.prepare('select max(version) as version from posthorn_migrations').get()).toEqual({
    version: 2,
  });
});

test('d1 sql --from prints what tables of an earlier version lack', async () => {
  const whole = fixture.open();
  whole.exec(d1Migration);
  const expected = schemaOf(whole);
  const { stdout: later, code } = await posthorn(['d1', 'sql', '--from', '1']);
  expect([code, d1Migration.endsWith(later)]).toEqual([0, true]);
  whole.exec(`drop table posthorn_events; drop table posthorn_dead_letters;
drop table posthorn_dead_letter_parts; drop table posthorn_migrations`);
  // The migration that users of the first version have applied, byte for byte.
  whole.exec(readFileSync(join(packageRoot, 'examples/worker-d1/migrations/0001_posthorn.sql'), 'utf8'));
  whole.exec(later);
  expect(schemaOf(whole)).toEqual(expected);
});

test.each(['2', '-1', 'x', '1.5', ''])('d1 sql --from %j says which versions there are', async (from) => {
  const { code, stderr } = await posthorn(['d1', 'sql', `--from=${from}`]);
  expect(code).toBe(2);
  expect(stderr).toContain('It must be a number from 0 to 1');
});

test('d1 without a command prints its help', async () => {
  const { stdout, stderr } = await posthorn(['d1', '--help']);
  expect(stdout + stderr).toContain('print the migration that creates the tables');
});
