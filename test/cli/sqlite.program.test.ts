import { existsSync, mkdirSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createSqliteDeadLetters, createSqliteJournal } from 'posthorn/sqlite';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { stores } from '../../src/stores/list.ts';
import { ampleJournal } from '../stores/kit/journal/journal-case.ts';
import { openDatabase, standInPath } from '../stores/sqlite/driver.ts';
import { useSqlite } from '../stores/sqlite/fixture.ts';
import { type CopiedPackage, copyPackage } from '../support/copied-package.ts';
import { skipWithoutModes } from '../support/skip-if.ts';
import { printed } from './ended.ts';
import { fillJournal, recordsOf } from './journal-entries.ts';
import { letter, nothingSkipped } from './letters.ts';
import { jsonLines, posthorn } from './posthorn.ts';

describe('posthorn on a file of SQLite', () => {
  const fixture = useSqlite();
  let bare: CopiedPackage;
  let withDriver: CopiedPackage;
  beforeAll(() => {
    bare = copyPackage();
    withDriver = copyPackage();
    const modules = join(withDriver.project, 'node_modules');
    symlinkSync(standInPath, join(modules, 'better-sqlite3'));
    return () => {
      bare.remove();
      withDriver.remove();
    };
  });

  const run = (args: readonly string[], copy: CopiedPackage = withDriver) =>
    posthorn(args, { program: join(copy.root, 'dist', 'src', 'cli', 'bin.js') });

  const message = (code: number, pattern: RegExp) => ({
    code,
    stdout: '',
    stderr: expect.stringMatching(pattern),
  });

  test('sqlite migrate creates the file and its tables, and may be run again', async () => {
    const migrate = () => run(['sqlite', 'migrate', fixture.path]);
    expect(await migrate()).toEqual(printed(`created the tables of version 1 in ${fixture.path}\n`));
    expect(await migrate()).toEqual(
      printed(`the tables in ${fixture.path} are up to date, at version 1: nothing to do\n`),
    );
    const asJson = await run(['sqlite', 'migrate', fixture.path, '--json']);
    expect(jsonLines(asJson)).toEqual([{ file: fixture.path, previous: 1, version: 1 }]);
    const mode = fixture.open().prepare('pragma journal_mode').get();
    expect(Object.values(mode ?? {})).toEqual(['wal']);
  });

  test('sqlite migrate says which tables a file of this version did not have yet', async () => {
    const withoutJournal = async (): Promise<void> => {
      const database = await fixture.openMigrated();
      database.exec('drop table posthorn_journal');
      database.close();
    };
    await withoutJournal();
    expect(await run(['sqlite', 'migrate', fixture.path])).toEqual(
      printed(`added posthorn_journal to the tables in ${fixture.path}, which are at version 1\n`),
    );
    await withoutJournal();
    expect(jsonLines(await run(['sqlite', 'migrate', fixture.path, '--json']))).toEqual([
      { file: fixture.path, previous: 1, version: 1, added: ['posthorn_journal'] },
    ]);
    expect(await run(['sqlite', 'migrate', fixture.path])).toMatchObject({
      stdout: `the tables in ${fixture.path} are up to date, at version 1: nothing to do\n`,
    });
  });

  test('sqlite migrate lets only its user read what it creates, and leaves the mode of a file as it is', async (context) => {
    skipWithoutModes(context);
    const umask = process.umask(0o022);
    onTestFinished(() => void process.umask(umask));
    const migrate = async (file: string) =>
      expect(await run(['sqlite', 'migrate', file])).toMatchObject({ code: 0 });
    const modeOf = (file: string) => (statSync(file).mode & 0o777).toString(8);
    await migrate(fixture.path);
    const database = fixture.open();
    await createSqliteDeadLetters(database, { scope: 'billing-test' }).put(letter('evt_1'));
    expect(['', '-wal', '-shm'].map((end) => modeOf(fixture.path + end))).toEqual(['600', '600', '600']);
    const own = join(dirname(fixture.path), 'own.db');
    writeFileSync(own, '', { mode: 0o640 });
    await migrate(own);
    expect(modeOf(own)).toBe('640');
  });

  test.each([':memory:', 'file:events.db', 'file::memory:?cache=shared'])(
    'no command takes %s for a file',
    async (file) => {
      const refused = message(2, /does not name a file: give the path/);
      expect(await run(['sqlite', 'migrate', file])).toEqual(refused);
      expect(await run(['dead-letters', 'list', '--scope', 'a', '--sqlite', file])).toEqual(refused);
      expect(existsSync(file)).toBe(false);
    },
  );

  test('dead-letters lists, shows and drops the letters of a scope', async () => {
    const deadLetters = createSqliteDeadLetters(await fixture.openMigrated(), { scope: 'billing-test' });
    for (let count = 0; count < 20; count += 1) await deadLetters.put(letter(`evt_${count}`));
    const place = ['--scope', 'billing-test', '--sqlite', fixture.path];
    const listed = await run(['dead-letters', 'list', ...place, '--json']);
    expect(listed).toMatchObject({ code: 0, stderr: '' });
    expect(jsonLines(listed).at(-1)).toEqual({ kind: 'summary', letters: 20, ...nothingSkipped });
    const shown = await run(['dead-letters', 'show', 'evt_7', ...place]);
    expect(shown).toMatchObject({ code: 0, stdout: expect.stringContaining('"data":{"amount":5}}\n') });
    const dropped = await run(['dead-letters', 'drop', '--all', '--yes', ...place, '--json']);
    expect(jsonLines(dropped).at(-1)).toMatchObject({ dropped: 20 });
    expect(await deadLetters.get('evt_7')).toBeUndefined();
  });

  test('events lists, shows and prunes the journal of a scope', async () => {
    const journal = createSqliteJournal(await fixture.openMigrated(), {
      scope: 'billing-test',
      ...ampleJournal,
    });
    await fillJournal(journal, recordsOf(['evt_1', 'evt_2', 'evt_3']));
    const place = ['--scope', 'billing-test', '--sqlite', fixture.path];
    const listed = await run(['events', 'list', ...place, '--limit', '2', '--json']);
    expect(listed).toMatchObject({ code: 0, stderr: '' });
    const [first, , summary] = jsonLines(listed);
    expect(first).toMatchObject({ kind: 'event', id: 'evt_1', outcome: 'processed' });
    const next = `events list --limit 2 --after evt_2 ${place.join(' ')} --json`;
    expect(summary).toMatchObject({ events: 2, more: true, next: expect.stringContaining(` ${next}`) });
    expect(jsonLines(await run(next.split(' '))).map(({ id }) => id)).toEqual(['evt_3', undefined]);
    const shown = await run(['events', 'show', 'evt_3', ...place]);
    expect(shown).toMatchObject({ code: 0, stdout: expect.stringContaining('\n{"id":"evt_3"') });
    const prune = ['events', 'prune', '--older-than', '1d', ...place];
    expect(await run([...prune, '--dry-run'])).toEqual(printed('3 would be pruned\n'));
    expect(await run([...prune, '--yes'])).toEqual(printed('3 pruned\n'));
    expect(await journal.get('evt_1')).toBeUndefined();
  });

  test('says what is wrong with the file', async () => {
    const folder = dirname(fixture.path);
    const missing = join(folder, 'missing.db');
    const list = (file: string) => run(['dead-letters', 'list', '--scope', 'a', '--sqlite', file]);
    expect(await list(missing)).toEqual(
      message(2, /the file .* does not exist: name the file of the receiver/),
    );
    expect(await list(folder)).toEqual(message(2, /is not a file/));
    expect(await run(['sqlite', 'migrate', join(folder, 'no', 'such.db')])).toEqual(
      message(2, /the directory of .* does not exist: create it first/),
    );
    const text = join(folder, 'text.db');
    writeFileSync(text, 'this is not a database, but long enough to be one of SQLite'.repeat(50));
    const notADatabase = message(1, /the file is damaged, or is not a database of SQLite/);
    expect(await run(['sqlite', 'migrate', text])).toEqual(notADatabase);
    expect(await list(text)).toEqual(notADatabase);
    const place = ['--scope', 'a', '--sqlite', text];
    expect(await run(['dead-letters', 'show', 'evt_1', ...place])).toEqual(notADatabase);
    expect(await run(['dead-letters', 'drop', '--all', '--yes', ...place])).toEqual(notADatabase);
    expect(await run(['sqlite', 'migrate', ''])).toEqual(message(2, /"" is not a file/));
    openDatabase(join(folder, 'empty.db')).exec('create table other (id)');
    expect(await list(join(folder, 'empty.db'))).toEqual(message(3, /posthorn sqlite migrate FILE/));
    const database = await fixture.openMigrated();
    database.exec('insert into posthorn_migrations (version, applied_at) values (99, 0)');
    expect(await run(['sqlite', 'migrate', fixture.path])).toEqual(message(1, /version 99.*update posthorn/));
    mkdirSync(join(folder, 'other'));
    expect(await list(join(folder, 'other'))).toEqual(message(2, /is not a file/));
  });

  test('takes one place of the letters', async () => {
    const flags = stores.filter(({ option }) => option !== undefined).map(({ name }) => `--${name}`);
    const last = flags.pop();
    const place = ['dead-letters', 'list', '--sqlite', fixture.path];
    expect(await run(place)).toEqual(message(2, /give --scope/));
    expect(await run([...place, '--scope', 'a', '--redis', 'redis://127.0.0.1:1'])).toEqual(
      message(
        2,
        new RegExp(`give one of ${flags.join(', ')} and ${last}: the dead letters are in one place`),
      ),
    );
  });

  test('names both ways out without a client of SQLite', async () => {
    const ended = await run(['sqlite', 'migrate', fixture.path], bare);
    const hasOwn = process.getBuiltinModule('node:sqlite') !== undefined;
    if (hasOwn) expect(ended).toMatchObject({ code: 0, stderr: '' });
    else expect(ended).toEqual(message(2, /Node.js 22.13 or later, or .*npm install "better-sqlite3@>=11/));
  });
});
