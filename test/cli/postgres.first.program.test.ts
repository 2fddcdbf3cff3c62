import { execFileSync } from 'node:child_process';
import { createPostgresDeadLetters, migratePostgres } from 'posthorn/postgres';
import { describe, expect, test } from 'vitest';
import { programPath } from '../../tools/programs.js';
import { usePostgres } from '../stores/postgres/fixture.ts';
import { printed } from './ended.ts';
import { letter, nothingSkipped } from './letters.ts';
import { jsonLines, posthorn } from './posthorn.ts';

describe('posthorn on PostgreSQL', () => {
  const fixture = usePostgres();

  /** What pg_dump says of a schema, under the name `posthorn`. */
  function dump(schema: string): string {
    const connection = ['-h', '127.0.0.1', '-p', String(fixture.postgres.port), '-U', 'postgres'];
    const flags = ['--schema-only', '--no-owner', `--schema=${schema}`, 'postgres'];
    const text = execFileSync(programPath('pg_dump'), [...connection, ...flags], { encoding: 'utf8' });
    return text.replaceAll(schema, 'posthorn').replace(/^\\(un)?restrict .*$/gm, '');
  }

  test('postgres migrate creates the tables, and may be run again', async () => {
    const env = { POSTGRES_URL: fixture.url(), DATABASE_URL: 'postgres://127.0.0.1:1/' };
    const migrate = () => posthorn(['postgres', 'migrate', '--schema', 'by_program'], { env });
    expect(await migrate()).toEqual(printed('created the tables of version 5 in the schema by_program\n'));
    expect(await migrate()).toEqual(
      printed('the tables in the schema by_program are up to date, at version 5: nothing to do\n'),
    );
    expect(dump('by_program')).toBe(dump('posthorn'));
    const given = await posthorn(['postgres', 'migrate', '--json', '--url', fixture.url()]);
    expect(jsonLines(given)).toEqual([{ schema: 'posthorn', previous: 5, version: 5 }]);
    const fallback = await posthorn(['postgres', 'migrate'], { env: { DATABASE_URL: fixture.url() } });
    expect(fallback.code).toBe(0);
  });

  test('postgres sql prints what psql makes the same tables of, and may run again', async () => {
    const { code, stdout } = await posthorn(['postgres', 'sql', '--schema', 'by_psql']);
    expect(code).toBe(0);
    const asJson = await posthorn(['postgres', 'sql', '--schema', 'by_psql', '--json']);
    expect(jsonLines(asJson)).toEqual([{ sql: stdout }]);
    for (let run = 0; run < 2; run += 1) fixture.postgres.sql(stdout);
    expect(dump('by_psql')).toBe(dump('posthorn'));
    await migratePostgres(fixture.connect(), { schema: 'by_psql' });
    const versions = (schema: string) =>
      fixture.postgres.sql(`select version from ${schema}.migrations order by 1`);
    expect(versions('by_psql')).toBe(versions('posthorn'));
  });

  test('dead-letters lists, shows and drops the letters of a scope', async () => {
    const deadLetters = createPostgresDeadLetters(fixture.connect(), { scope: 'billing-test' });
    for (let count = 0; count < 20; count += 1) await deadLetters.put(letter(`evt_${count}`));
    const place = ['--scope', 'billing-test', '--json'];
    const env = { POSTGRES_URL: fixture.url() };
    const listed = await posthorn(['dead-letters', 'list', ...place], { env });
    expect(listed).toMatchObject({ code: 0, stderr: '' });
    expect(jsonLines(listed).at(-1)).toEqual({ kind: 'summary', letters: 20, ...nothingSkipped });
    const given = ['--scope', 'billing-test', '--postgres', fixture.url()];
    const beside = { env: { REDIS_URL: 'redis://127.0.0.1:1' } };
    const shown = await posthorn(['dead-letters', 'show', 'evt_7', ...given], beside);
    expect(shown).toMatchObject({ code: 0, stdout: expect.stringContaining('"data":{"amount":5}}\n') });
    const dropped = await posthorn(['dead-letters', 'drop', '--all', '--yes', ...place], { env });
    expect(jsonLines(dropped).at(-1)).toMatchObject({ dropped: 20 });
    expect(await deadLetters.get('evt_7')).toBeUndefined();
  });
});
