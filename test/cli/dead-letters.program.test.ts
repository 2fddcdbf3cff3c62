import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createFileDeadLetters } from 'posthorn/file';
import { describe, expect, test } from 'vitest';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { refusal } from './ended.ts';
import { directoryOf, letter, nothingSkipped, summaryWith } from './letters.ts';
import { jsonLines, onTerminal, posthorn, program } from './posthorn.ts';

const HOUR_MS = 3_600_000;

/** A directory with letters, one of them of an event that is running. */
const fill = (): Promise<string> =>
  directoryOf([
    letter('evt_new'),
    letter('evt_old', { type: 'dispute.lost', parkedAt: Date.now() - 49 * HOUR_MS }),
    letter('evt_running', { runningUntil: Date.now() + HOUR_MS }),
    letter('evt_ran', { type: 'transfer.failed', runningUntil: Date.now() - 1 }),
  ]);

function idsOf(lines: readonly Record<string, unknown>[]): unknown[] {
  return lines.flatMap(({ kind, id }) => (kind === 'letter' || kind === 'drop' ? [id] : [])).sort();
}

/** Letters whose ids alone are more than a pipe holds. */
const fillBeyondPipe = (): Promise<string> =>
  directoryOf(Array.from({ length: 300 }, (_, index) => letter(`evt_${index}_${'x'.repeat(900)}`)));

/** A command of posthorn whose output is read by `head`. */
function readByHead(args: string): { status: number | null; stdout: string; stderr: string } {
  const command = `set -o pipefail; "${process.execPath}" "${program}" ${args} | head -n 1`;
  return spawnSync('bash', ['-c', command], { encoding: 'utf8' });
}

describe('posthorn dead-letters list', () => {
  test('begins with what was parked first', async () => {
    const parked = (age: number) => letter(`evt_${age}`, { parkedAt: Date.now() - age * HOUR_MS });
    const directory = await directoryOf([3, 5, 1, 4, 2].map(parked));
    const { stdout } = await posthorn(['dead-letters', 'list', '--dir', directory]);
    expect(stdout.match(/evt_\d/g)).toEqual(['evt_5', 'evt_4', 'evt_3', 'evt_2', 'evt_1']);
  });

  test('ends well when its reader has seen enough', async () => {
    const ended = readByHead(`dead-letters list --dir ${await fillBeyondPipe()}`);
    expect(ended).toMatchObject({ status: 0, stderr: '' });
    expect(ended.stdout).toMatch(/^\S+Z transfer\.succeeded evt_/);
  });

  test('lists and shows letters whose times no Date can hold, and the others', async () => {
    const directory = await fill();
    const deadLetters = createFileDeadLetters(directory);
    await deadLetters.put(letter('evt_far', { receivedAt: 1e300, parkedAt: 9e15, runningUntil: -9e15 }));
    const listed = await posthorn(['dead-letters', 'list', '--dir', directory]);
    expect(listed).toMatchObject({ code: 0, stderr: '' });
    expect(listed.stdout.split('\n')).toContain(
      '9000000000000000 transfer.succeeded evt_far after 4 attempts, handler_failed: a handler failed: out of order',
    );
    const lines = jsonLines(await posthorn(['dead-letters', 'list', '--dir', directory, '--json']));
    expect(idsOf(lines)).toEqual(['evt_far', 'evt_new', 'evt_old', 'evt_ran']);
    const shown = await posthorn(['dead-letters', 'show', 'evt_far', '--dir', directory]);
    expect(shown).toMatchObject({ code: 0, stderr: '' });
    expect(shown.stdout).toContain('1e+300');
    const { stdout } = onTerminal(`dead-letters list --dir ${directory}`);
    for (const id of ['evt_far', 'evt_new', 'evt_old', 'evt_ran']) expect(stdout).toContain(id);
  });

  test('lists what is parked, one line each, and counts what is still running', async () => {
    const { code, stdout, stderr } = await posthorn(['dead-letters', 'list', '--dir', await fill()]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const lines = stdout.trimEnd().split('\n').sort();
    expect(lines).toHaveLength(5);
    expect(lines).toContain('3 parked, 1 still running');
    expect(lines).toContainEqual(expect.stringMatching(/^ {2}evt_running may be running until \d\S+Z$/));
    expect(lines.find((line) => line.includes('evt_new'))).toMatch(
      /^\S+Z transfer\.succeeded evt_new after 4 attempts, handler_failed: a handler failed: out of order$/,
    );
  });

  test('prints JSON lines without what the letters hold', async () => {
    const ended = await posthorn(['dead-letters', 'list', '--dir', await fill(), '--json']);
    const lines = jsonLines(ended);
    expect(lines.at(-1)).toEqual({ kind: 'summary', letters: 3, ...nothingSkipped, running: 1 });
    expect(idsOf(lines)).toEqual(['evt_new', 'evt_old', 'evt_ran']);
    expect(lines.find(({ id }) => id === 'evt_new')).toEqual({
      kind: 'letter',
      id: 'evt_new',
      type: 'transfer.succeeded',
      reason: 'handler_failed',
      message: 'a handler failed: out of order',
      receivedAt: expect.stringMatching(/Z$/),
      parkedAt: expect.stringMatching(/Z$/),
      attempts: 4,
      handled: [],
    });
  });

  test.each([
    { args: ['--type', 'transfer.*'], ids: ['evt_new', 'evt_ran'], running: 1 },
    { args: ['--type', 'dispute.lost'], ids: ['evt_old'], running: 0 },
    { args: ['--reason', 'handler_failed'], ids: ['evt_new', 'evt_old', 'evt_ran'], running: 1 },
    { args: ['--reason', 'data_invalid', '--type', '*'], ids: [], running: 0 },
    { args: ['--since', '2d'], ids: ['evt_new', 'evt_ran'], running: 1 },
    { args: ['--since', '50h'], ids: ['evt_new', 'evt_old', 'evt_ran'], running: 1 },
    { args: ['--since', '2999-01-01'], ids: [], running: 0 },
    { args: ['--all'], ids: ['evt_new', 'evt_old', 'evt_ran'], running: 1 },
    {
      args: ['--since', '2026-03-31T09:00:00+02:00', '--type', '*'],
      ids: ['evt_new', 'evt_old', 'evt_ran'],
      running: 1,
    },
  ])('$args', async ({ args, ids, running }) => {
    const ended = await posthorn(['dead-letters', 'list', '--dir', await fill(), '--json', ...args]);
    const lines = jsonLines(ended);
    expect(idsOf(lines)).toEqual(ids);
    expect(lines.at(-1)).toMatchObject({ letters: ids.length, running });
  });

  test('a damaged letter does not hide the others, and is exit code 1', async () => {
    const directory = await fill();
    writeFileSync(join(directory, `${'0'.repeat(64)}.json`), '{');
    const ended = await posthorn(['dead-letters', 'list', '--dir', directory, '--json']);
    expect(ended.code).toBe(1);
    expect(jsonLines(ended).at(-1)).toMatchObject({ letters: 3 });
    expect(ended.stderr).toMatch(
      /^posthorn: the dead letter .* cannot be read.* \(dead_letter_unreadable\)\n$/,
    );
  });

  test.each([
    { args: [], message: /say where the dead letters are.*\(usage_invalid\)/ },
    {
      args: ['--redis', 'redis://127.0.0.1'],
      message: /the scope of the dead letters is missing: give --scope/,
    },
    { args: ['--dir', 'a', '--scope', 'b'], message: /one of --dir and --scope/ },
    { args: ['--dir', 'absent'], message: /--dir must be an existing directory/ },
    { args: ['--dir', '.', '--type', 'transfer'], message: /It must be a type such as/ },
    {
      args: ['--dir', '.', '--reason', 'handler_faild'],
      message: /It must be a code of docs\/errors\.md; the nearest is handler_failed\./,
    },
    { args: ['--dir', '.', '--since', 'yesterday'], message: /It must be a time such as/ },
    { args: ['--dir', '.', '--since', '2026-02-30'], message: /It must be a time such as/ },
    { args: ['--dir', '.', '--since', '999999999d'], message: /It must be a time such as/ },
  ])('$args is exit code 2', async ({ args, message }) => {
    const cwd = temporaryDirectory();
    const ended = await posthorn(['dead-letters', 'list', ...args], { cwd });
    expect(ended).toEqual({ code: 2, stdout: '', stderr: expect.stringMatching(message) });
    expect(existsSync(join(cwd, 'absent'))).toBe(false);
  });
});

describe('posthorn dead-letters show', () => {
  test('shows the body readable, with everything escaped that could drive the terminal', async () => {
    const rawBody = Buffer.from('{\n\t"a": "\u001b[31m\u202eé"\n}');
    const headers = { 'x-odd': ['a\u0007b'] };
    const directory = await directoryOf([letter('evt_1', { rawBody, headers, message: 'bad\nline' })]);
    const { code, stdout } = await posthorn(['dead-letters', 'show', 'evt_1', '--dir', directory]);
    expect(code).toBe(0);
    expect(stdout).toContain('message bad\\u{a}line\n');
    expect(stdout).toContain('  x-odd a\\u{7}b\n');
    expect(stdout).toMatch(/\nbody, \d+ bytes\n\{\n\t"a": "\\u\{1b\}\[31m\\u\{202e\}é"\n\}\n$/);
  });

  test('gives the bytes with --json, whatever they are', async () => {
    const directory = await directoryOf([letter('evt_1', { rawBody: Buffer.from([0xff, 0x00]) })]);
    const ended = await posthorn(['dead-letters', 'show', 'evt_1', '--dir', directory, '--json']);
    const [shown] = jsonLines(ended);
    expect(shown).toMatchObject({
      id: 'evt_1',
      headers: { 'content-type': ['application/json'] },
      rawBody: '/wA=',
    });
    expect(shown).not.toHaveProperty('body');
    const text = await posthorn(['dead-letters', 'show', 'evt_1', '--dir', directory]);
    expect(text.stdout).toContain('body, 2 bytes, which are not UTF-8\n');
  });

  test('says of a running one that it is', async () => {
    const { code, stdout } = await posthorn(['dead-letters', 'show', 'evt_running', '--dir', await fill()]);
    expect({ code, told: stdout.includes('may still be running') }).toEqual({ code: 0, told: true });
  });

  test('an unknown id is exit code 1', async () => {
    const ended = await posthorn(['dead-letters', 'show', 'evt_x', '--dir', await fill()]);
    expect(ended).toEqual(refusal(1, 'posthorn: no dead letter has the id "evt_x" (failed)\n'));
  });
});

describe('posthorn dead-letters drop', () => {
  test('removes what it is told to, and says that the ids are not completed', async () => {
    const directory = await fill();
    const ended = await posthorn(['dead-letters', 'drop', 'evt_new', 'evt_old', '--dir', directory]);
    expect(ended).toEqual({
      code: 0,
      stdout: 'dropped transfer.succeeded evt_new\ndropped dispute.lost evt_old\n2 dropped\n',
      stderr: expect.stringContaining('only the dead letters were removed'),
    });
    expect(readdirSync(directory)).toHaveLength(2);
  });

  test('--all leaves alone what is still running', async () => {
    const directory = await fill();
    const ended = await posthorn(['dead-letters', 'drop', '--all', '--yes', '--dir', directory, '--json']);
    expect(ended.code).toBe(0);
    const lines = jsonLines(ended);
    expect(idsOf(lines)).toEqual(['evt_new', 'evt_old', 'evt_ran']);
    expect(lines[0]).toMatchObject({ kind: 'drop', completed: false });
    expect(lines.at(-1)).toEqual(summaryWith({ dropped: 3, running: 1 }));
    expect(readdirSync(directory)).toHaveLength(1);
  });

  test('--all does nothing without --yes if there is no terminal to ask on', async () => {
    const directory = await fill();
    const ended = await posthorn(['dead-letters', 'drop', '--all', '--dir', directory], { input: 'yes\n' });
    expect(ended).toEqual(
      refusal(
        2,
        expect.stringMatching(/^posthorn: without a terminal .*needs --yes; .*\(usage_invalid\)\n$/),
      ),
    );
    expect(readdirSync(directory)).toHaveLength(4);
    const seen = await posthorn(['dead-letters', 'drop', '--all', '--dry-run', '--dir', directory]);
    expect(seen).toMatchObject({ code: 0, stdout: expect.stringContaining('3 would be dropped') });
  });

  test.each([
    ['--type', 'transfer.*'],
    ['--since', '3d'],
    ['--reason', 'handler_failed'],
    ['--since', '3d', '--limit', '1'],
  ])('%s %s does nothing without --yes either', async (...args) => {
    const directory = await fill();
    const drop = ['dead-letters', 'drop', ...args, '--dir', directory];
    const ended = await posthorn(drop, { input: 'yes\n' });
    expect(ended).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('needs --yes') });
    expect(readdirSync(directory)).toHaveLength(4);
    expect(await posthorn([...drop, '--yes'])).toMatchObject({ code: 0 });
    expect(readdirSync(directory).length).toBeLessThan(4);
  });

  test('asks on a terminal about those that the options select', async () => {
    const directory = await fill();
    const filters = '--type transfer.* --reason handler_failed --since 2026-03-31T09:00:00Z --limit 5';
    const { status, stdout } = onTerminal(`dead-letters drop ${filters} --dir ${directory}`, 'n\n');
    expect(status, stdout).toBe(1);
    expect(stdout).toContain(
      'Drop up to 5 dead letters of transfer.* with the reason handler_failed parked since ' +
        '2026-03-31T09:00:00.000Z? Nobody can replay them afterwards. [y/N] ',
    );
    expect(readdirSync(directory)).toHaveLength(4);
  });

  test('names the first ten of many ids without a dead letter', async () => {
    const ids = Array.from({ length: 12 }, (_, index) => `evt_x${index}`);
    const { stderr } = await posthorn(['dead-letters', 'drop', ...ids, '--dir', await fill()]);
    expect(stderr).toMatch(/: ids without a dead letter: "evt_x0", .*, "evt_x9" and 2 more \(failed\)\n$/);
  });

  test.each(['n\n', '\n', 'yesterday\n', '\u0004'])(
    '--all does nothing on a terminal after %j',
    async (answer) => {
      const directory = await fill();
      const { status, stdout } = onTerminal(`dead-letters drop --all --dir ${directory}`, answer);
      expect(status, stdout).toBe(1);
      expect(stdout).toMatch(/Drop all dead letters\? .* \[y\/N\] [\s\S]*posthorn: nothing was dropped/);
      expect(readdirSync(directory)).toHaveLength(4);
    },
  );

  test.each(['y\n', 'YES\n'])('--all drops on a terminal after %j', async (answer) => {
    const directory = await fill();
    const { status, stdout } = onTerminal(`dead-letters drop --all --dir ${directory}`, answer);
    expect(status, stdout).toBe(0);
    expect(readdirSync(directory)).toHaveLength(1);
  });

  test('drops to the end, though nobody reads what it says, and tells so by its exit code', async () => {
    const directory = await fillBeyondPipe();
    const { status, stderr } = readByHead(`dead-letters drop --all --yes --json --dir ${directory}`);
    expect({ status, stderr }).toEqual({
      status: 1,
      stderr: expect.stringContaining('only the dead letters'),
    });
    expect(readdirSync(directory)).toEqual([]);
  });

  test('--dry-run changes nothing', async () => {
    const directory = await fill();
    const ended = await posthorn(`dead-letters drop --type transfer.* --dir ${directory} --dry-run`);
    expect(ended.code).toBe(0);
    expect(ended.stdout.split('\n')).toEqual([
      '2 would be dropped, 1 still running',
      expect.stringMatching(/^ {2}evt_running may be running until \S+Z$/),
      expect.stringMatching(/^parked from \S+Z to \S+Z$/),
      expect.stringMatching(/^ {2}1 transfer\.\w+ handler_failed$/),
      expect.stringMatching(/^ {2}1 transfer\.\w+ handler_failed$/),
      '',
    ]);
    expect(readdirSync(directory)).toHaveLength(4);
  });

  test('an id that is not there, or running, is exit code 1; the others are dropped', async () => {
    const directory = await fill();
    const args = ['dead-letters', 'drop', '--dir', directory, 'evt_new'];
    const missing = await posthorn([...args, 'evt_x']);
    expect(missing).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('ids without a dead letter: "evt_x" (failed)'),
    });
    expect(missing.stdout).toContain('1 dropped, 1 not found\n');
    const running = await posthorn(['dead-letters', 'drop', '--dir', directory, 'evt_running']);
    expect(running).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('still be running: "evt_running"; try again later'),
    });
    expect(readdirSync(directory)).toHaveLength(3);
  });

  test.each([
    { args: [], message: /say which dead letters/ },
    { args: ['evt_new', '--all'], message: /ids or --all, not both/ },
  ])('$args is exit code 2', async ({ args, message }) => {
    const directory = await fill();
    const ended = await posthorn(['dead-letters', 'drop', '--dir', directory, ...args]);
    expect(ended).toEqual({ code: 2, stdout: '', stderr: expect.stringMatching(message) });
    expect(readdirSync(directory)).toHaveLength(4);
  });
});
