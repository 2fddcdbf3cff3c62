import { describe, expect, test } from 'vitest';
import { useSqlite } from '../stores/sqlite/fixture.ts';
import { refusal } from './ended.ts';
import { onTerminal, posthorn } from './posthorn.ts';
import { writeModule } from './receiver-module.ts';
import { handledEvent, handledEvents, openRerun, rerunModule } from './rerunning.ts';

const sqlite = useSqlite();
const three = handledEvents(['evt_1', 'evt_2', 'evt_3']);

describe('posthorn events rerun refuses', () => {
  test.each([
    [
      'a command that does not name its run',
      ['--all', '--handler', 'book'],
      '--run is missing: name what is done, such as --run fix-1127. With the same name the same command, given again',
    ],
    [
      'one that does not say which events are meant',
      ['--handler', 'book', '--run', 'fix', '--limit', '5'],
      'say which events: ids, --all, --type, --resource, --since, --until or --outcome (usage_invalid)',
    ],
    [
      'ids beside a selection',
      ['evt_1', '--handler', 'book', '--run', 'fix', '--type', 'transfer.*'],
      'give ids or a selection, not both: ids, or --all, --type,',
    ],
    [
      'ids beside --all',
      ['evt_1', '--handler', 'book', '--run', 'fix', '--all'],
      'give ids or a selection, not both',
    ],
    [
      'times in the wrong order',
      ['--handler', 'book', '--run', 'fix', '--since', '2026-04-01', '--until', '2026-03-31'],
      '--since must be before --until: no event was received between them',
    ],
    [
      'to run without a terminal and --yes',
      ['--handler', 'book', '--run', 'fix', '--all'],
      'without a terminal to ask on, rerun needs --yes; --dry-run counts the events',
    ],
    [
      'a command without a handler',
      ['--run', 'fix', '--all'],
      "required option '--handler <name>' not specified",
    ],
  ])('%s, before the receiver is loaded', async (_, args, message) => {
    const { file } = await writeModule('throw new Error("loaded");');
    expect(await posthorn(['events', 'rerun', '--receiver', file, ...args])).toEqual(
      refusal(2, expect.stringContaining(message)),
    );
  });

  test.each([
    ['a handler of another name', ['--handler', 'bok'], 'the nearest is "book"'],
    [
      'a run with a name that is too long',
      ['--run', 'x'.repeat(101)],
      'must be a well-formed text of 1 to 100 characters',
    ],
    ['a misspelt type', ['--type', 'transfer.suceeded'], 'the nearest is transfer.succeeded (usage_invalid)'],
  ])('%s', async (_, args, message) => {
    const { rerun } = await openRerun(sqlite, three);
    expect(await rerun('--all', '--dry-run', ...args)).toEqual(refusal(2, expect.stringContaining(message)));
  });

  test.each([
    [
      'of an earlier version',
      () => 'export const receiver = { replay() {}, drop() {}, close() {} };',
      'the receiver is of an earlier version of posthorn, which cannot run handlers again: the module must import',
    ],
    [
      'without handlers',
      (path: string) => rerunModule(path, { handlers: '' }),
      'the receiver has no handlers: the module must register them',
    ],
    [
      'whose handlers have no names',
      (path: string) => rerunModule(path, { handlers: ".on('*', () => {})" }),
      'no handler of the receiver has a name: give on() the option name',
    ],
    [
      'without a journal',
      (path: string) => rerunModule(path, { journal: 'undefined' }),
      'the receiver has no journal, which has the events: give createReceiver the option journal',
    ],
    [
      'with a store in memory',
      (path: string) => rerunModule(path, { store: 'createMemoryStore()' }),
      'so the command could not remember what it has run: give it its store, or call receiver.rerun in that process',
    ],
  ])('a receiver %s', async (_, codeOf, message) => {
    await sqlite.openMigrated();
    const { file } = await writeModule(codeOf(sqlite.path));
    const words = ['--handler', 'book', '--run', 'fix', '--all', '--dry-run'];
    expect(await posthorn(['events', 'rerun', '--receiver', file, ...words])).toEqual(
      refusal(2, expect.stringContaining(message)),
    );
  });

  test('to run what a journal without bodies has, and says why', async () => {
    const records = ['evt_1', 'evt_2'].map((id) => handledEvent(id, { rawBody: undefined }));
    const { rerun } = await openRerun(sqlite, records);
    const stderr = expect.stringMatching(
      /^without a body: the journal has no body of the event "evt_1": it keeps none \(bodies: false\).*\nnothing is left to run\n$/,
    );
    const stdout = '0 would run, 2 without a body\n';
    expect(await rerun('--all', '--yes')).toEqual({ code: 1, stdout, stderr });
  });
});

test('events of which the journal has none are not a failure, and it says so', async () => {
  const { rerun } = await openRerun(sqlite, three);
  expect(await rerun('--resource', 'TR9', '--dry-run')).toEqual({
    code: 0,
    stdout: '0 would run\n',
    stderr: 'the journal has none of these events\n',
  });
});

describe('posthorn events rerun on a terminal', () => {
  test('asks, and runs nothing after n', async () => {
    const { words, ledger } = await openRerun(sqlite, three);
    const command = words('--type', "'transfer.*'", '--limit', '2').join(' ');
    const { status, stdout } = onTerminal(command, 'n\n', 'stty cols 100; NO_COLOR=1 ');
    expect(status).toBe(1);
    expect(stdout).toContain('Run book again for 2 of 3 events? [y/N] ');
    expect(stdout).toContain('posthorn: nothing was run (failed)');
    expect(ledger()).toEqual([]);
  });

  test('runs after y, with its progress and the time that it took', async () => {
    const { words, ledger } = await openRerun(sqlite, three);
    const { status, stdout } = onTerminal(words('--all').join(' '), 'y\n', 'stty cols 100; NO_COLOR=1 ');
    expect(status).toBe(0);
    expect(stdout).toContain('\r\u001b[Kchecked 3 events');
    expect(stdout).toContain('\r\u001b[Krun 2 of 3');
    expect(stdout).toMatch(/3 processed, in \d+\.\d s\r?\n/);
    expect(ledger()).toHaveLength(3);
  });
});
