import { d1Migration } from 'posthorn/d1';
import { expect, test } from 'vitest';
import { useSqlite } from '../sqlite/fixture.ts';
import { posthorn } from './posthorn.ts';

const fixture = useSqlite();

test('d1 sql prints the migration, which SQLite takes', async () => {
  const printed = await posthorn(['d1', 'sql']);
  expect(printed).toEqual({ code: 0, stdout: d1Migration, stderr: '' });
  const connection = fixture.open();
  connection.exec(printed.stdout);
  const tables = connection
    .prepare("select name from sqlite_schema where type = 'table' order by name")
    .all();
  expect(tables).toEqual([
    { name: 'posthorn_dead_letter_parts' },
    { name: 'posthorn_dead_letters' },
    { name: 'posthorn_events' },
  ]);
});

test('d1 without a command prints its help', async () => {
  const { stdout, stderr } = await posthorn(['d1', '--help']);
  expect(stdout + stderr).toContain('print the migration that creates the tables');
});
