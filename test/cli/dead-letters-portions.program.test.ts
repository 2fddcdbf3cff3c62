import { describe, expect, test } from 'vitest';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { directoryOf, inOrder, letter, nothingSkipped, summaryWith } from './letters.ts';
import { jsonLines, paste, posthorn } from './posthorn.ts';
import { LETTERS_BESIDE, writeModule } from './receiver-module.ts';

const FIRST = Date.parse('2026-03-31T09:00:00Z');
const MINUTE_MS = 60_000;

/** A receiver whose handler fails for `evt_bad_…`. */
const RECEIVER = `
  ${LETTERS_BESIDE}
  export const receiver = createReceiver({ signingKey: 'k', deadLetters });
  receiver.on('*', ({ id }) => { if (id.startsWith('evt_bad')) throw new Error('no'); });`;

const ODD_ID = "evt $4\u001b[31m\u202e\\n'%s\t";

/** Letters of these ids, each parked a minute after the one before. */
async function fill(ids: readonly string[]) {
  const { file, deadLetters } = await writeModule(RECEIVER, inOrder(ids, FIRST));
  return {
    file,
    left: async () => {
      const found: string[] = [];
      for await (const { id } of deadLetters.list()) found.push(id);
      return found;
    },
  };
}

const fillDirectory = (ids: readonly string[]): Promise<string> => directoryOf(inOrder(ids, FIRST));

describe('--dry-run', () => {
  test('counts by type and reason, the largest group first, and tells the rest', async () => {
    const { file } = await writeModule(RECEIVER, [
      letter('evt_1', { parkedAt: FIRST, type: 'dispute.lost', reason: 'handler_timeout' }),
      letter('evt_2', { parkedAt: FIRST + MINUTE_MS }),
      letter('evt_3', { parkedAt: FIRST + 2 * MINUTE_MS }),
      letter('evt_4', { parkedAt: FIRST + 3 * MINUTE_MS, type: undefined, reason: 'data_invalid' }),
      letter('evt_5', { parkedAt: FIRST + 4 * MINUTE_MS, runningUntil: Date.now() + 3_600_000 }),
      letter('evt_6', { parkedAt: FIRST + 5 * MINUTE_MS, reason: 'event_too_old' }),
      letter('evt_7', { parkedAt: FIRST + 6 * MINUTE_MS }),
    ]);
    const args = ['dead-letters', 'replay', '--all', '--limit', '4', '--receiver', file, '--dry-run'];
    const { code, stdout } = await posthorn(args);
    expect({ code, lines: stdout.split('\n') }).toEqual({
      code: 0,
      lines: [
        '4 would be replayed, 1 still running, 1 older than the receiver accepts: inspect them, and replay ' +
          'them by their ids, and more beyond --limit',
        expect.stringMatching(/^ {2}evt_5 may be running until \S+Z$/),
        'parked from 2026-03-31T09:00:00.000Z to 2026-03-31T09:03:00.000Z',
        '  2 transfer.succeeded handler_failed',
        '  1 dispute.lost handler_timeout',
        '  1 ? data_invalid',
        '',
      ],
    });

    const lines = jsonLines(await posthorn([...args, '--json']));
    expect(lines.slice(0, 4).map(({ kind, id }) => [kind, id])).toEqual(
      ['evt_1', 'evt_2', 'evt_3', 'evt_4'].map((id) => ['letter', id]),
    );
    expect(lines.at(-1)).toEqual({
      kind: 'summary',
      dryRun: true,
      replayed: 4,
      failed: 0,
      running: 1,
      old: 1,
      missing: 0,
      more: true,
      oldestParkedAt: '2026-03-31T09:00:00.000Z',
      newestParkedAt: '2026-03-31T09:03:00.000Z',
      groups: [
        { type: 'transfer.succeeded', reason: 'handler_failed', count: 2 },
        { type: 'dispute.lost', reason: 'handler_timeout', count: 1 },
        { reason: 'data_invalid', count: 1 },
      ],
    });
  });

  test('of nothing prints a count alone', async () => {
    const directory = temporaryDirectory();
    const args = ['dead-letters', 'drop', '--all', '--dry-run', '--dir', directory];
    expect(await posthorn(args)).toEqual({ code: 0, stdout: '0 would be dropped\n', stderr: '' });
    const json = jsonLines(await posthorn([...args, '--json']));
    expect(json).toMatchObject([{ kind: 'summary', dryRun: true, dropped: 0, groups: [] }]);
  });
});

describe('--limit and --after', () => {
  test('replay goes on after what fails, by the command that it prints', async () => {
    const ids = ['evt_bad_1', 'evt_2', 'evt_3', 'evt_bad_4', 'evt_5', 'evt_6', 'evt_7'];
    const { file, left } = await fill(ids);
    const { code, stdout } = await posthorn(`dead-letters replay --since 9999d --limit 3 --receiver ${file}`);
    expect(code).toBe(1);
    const [counts, rest = ''] = stdout.trimEnd().split('\n').slice(-2);
    expect(counts).toBe('2 replayed, 1 failed, and more beyond --limit');
    expect(rest).toMatch(
      /^the rest: posthorn dead-letters replay --since [\d-]+T[\d:.]+Z --limit 3 --after evt_bad_1 --receiver \S+$/,
    );

    const [, again = ''] = rest.split('the rest: ');
    const more = (await paste(`${again} --json || test $? = 1`)).trimEnd().split('\n');
    expect(JSON.parse(more.at(-1) ?? '')).toMatchObject({
      replayed: 2,
      failed: 1,
      left: 0,
      more: true,
      next: expect.stringMatching(/ --limit 3 --after evt_bad_4 /),
    });
    const last = await paste(JSON.parse(more.at(-1) ?? '').next);
    expect(JSON.parse(last.trimEnd().split('\n').at(-1) ?? '')).toEqual(summaryWith({ replayed: 1 }));
    expect(await left()).toEqual(['evt_bad_1', 'evt_bad_4']);
  });

  test('a portion in which nothing fails is followed by the same command', async () => {
    const { file, left } = await fill(['evt_1', 'evt_2', 'evt_3']);
    const args = ['dead-letters', 'replay', '--all', '--limit', '2', '--receiver', file];
    const { code, stdout } = await posthorn(args);
    expect(code).toBe(0);
    expect(stdout).toMatch(
      /\n2 replayed, and more beyond --limit\nthe rest: posthorn \S+ replay --all --limit 2 --receiver /,
    );
    expect(await left()).toEqual(['evt_3']);
    expect(await posthorn(args)).toMatchObject({ code: 0, stdout: expect.stringMatching(/\n1 replayed\n$/) });
  });

  test('replay does not go on after one that is gone meanwhile', async () => {
    const code = `${RECEIVER} receiver.on('*', () => deadLetters.remove('evt_2'));`;
    const { file } = await writeModule(code, inOrder(['evt_1', 'evt_2', 'evt_3'], FIRST));
    const { stdout } = await posthorn(`dead-letters replay --all --limit 2 --receiver ${file}`);
    expect(stdout).toMatch(/\n1 replayed, and more beyond --limit\nthe rest: .* --all --limit 2 --receiver /);
  });

  test('--reason selects by the code, and goes on with the same', async () => {
    const { file, deadLetters } = await writeModule(RECEIVER, [
      letter('evt_1', { parkedAt: FIRST }),
      ...['evt_2', 'evt_3'].map((id, index) =>
        letter(id, { parkedAt: FIRST + (index + 1) * MINUTE_MS, reason: 'handler_timeout' }),
      ),
      letter('evt_4', { parkedAt: FIRST + 3 * MINUTE_MS, reason: 'run_abandoned' }),
      letter('evt_5', { parkedAt: FIRST + 4 * MINUTE_MS, reason: 'run_abandoned' }),
      letter('evt_6', { parkedAt: FIRST + 5 * MINUTE_MS, reason: 'event_too_old' }),
    ]);
    const place = ['--receiver', file];
    const replay = ['dead-letters', 'replay', '--reason', 'run_abandoned', '--limit', '1', ...place];
    const { stdout } = await posthorn(replay);
    expect(stdout).toMatch(
      / evt_4\n1 replayed, .*\nthe rest: \S+ \S+ replay --reason run_abandoned --limit 1 /,
    );
    expect(await deadLetters.get('evt_5')).toBeDefined();
    const old = await posthorn(['dead-letters', 'replay', '--reason', 'event_too_old', ...place]);
    expect(old).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^0 replayed, 1 older .* by their ids\n$/),
    });
  });

  test('drop takes a portion too, and keeps --yes', async () => {
    const directory = await fillDirectory(['evt_1', 'evt_2', 'evt_3', 'evt_4']);
    const args = ['dead-letters', 'drop', '--all', '--yes', '--limit', '2', '--after', 'evt_1'];
    const { code, stdout } = await posthorn([...args, '--dir', directory]);
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout:
        'dropped transfer.succeeded evt_2\ndropped transfer.succeeded evt_3\n2 dropped, and more beyond --limit\n' +
        `the rest: posthorn dead-letters drop --all --limit 2 --after evt_1 --dir ${directory} --yes\n`,
    });
  });

  test('read one dead letter beyond the limit, and not all others', async () => {
    const { file } = await writeModule(
      `import { createReceiver } from 'posthorn';
      const one = (id) => (${JSON.stringify({ ...letter('evt'), rawBody: undefined })});
      const get = async (id) => ({ ...one(id), id, rawBody: Buffer.from('{}') });
      async function* list() {
        for (const id of ['evt_1', 'evt_2', 'evt_3']) yield get(id);
        throw new Error('the list was read to its end');
      }
      const deadLetters = { list, get, put: async () => {}, remove: async () => true };
      export const receiver = createReceiver({ signingKey: 'k', deadLetters });`,
    );
    const rest = ['--limit', '2', '--receiver', file];
    for (const args of [['list'], ['drop', '--all', '--yes'], ['replay', '--all', '--dry-run']]) {
      const ended = await posthorn(['dead-letters', ...args, ...rest]);
      expect(ended).toMatchObject({ stdout: expect.stringContaining(', and more beyond --limit\n') });
      expect(ended.stderr).not.toContain('to its end');
    }
  });

  test('list prints page after page', async () => {
    const directory = await fillDirectory(['evt_1', 'evt_2', 'evt_3', ODD_ID]);
    const place = ['--dir', directory, '--since', '2026-03-31T09:00:00Z', '--json'];
    const first = jsonLines(await posthorn(['dead-letters', 'list', '--limit', '3', ...place]));
    const ids = (lines: readonly Record<string, unknown>[]) => lines.slice(0, -1).map(({ id }) => id);
    expect(ids(first)).toEqual(['evt_1', 'evt_2', 'evt_3']);
    expect(first.at(-1)).toMatchObject({ letters: 3, more: true });
    const next = await paste(String(first.at(-1)?.next));
    expect(ids(jsonLines({ stdout: next }))).toEqual([ODD_ID]);
    const after = await posthorn(['dead-letters', 'list', '--after', ODD_ID, ...place]);
    expect(jsonLines(after)).toEqual([{ kind: 'summary', letters: 0, ...nothingSkipped }]);
  });

  test('--type takes a new type that a dead letter has, and a known one that none has', async () => {
    const directory = await directoryOf([letter('evt_1', { type: 'payout.created' })]);
    const list = async (...args: string[]) =>
      (await posthorn(['dead-letters', 'list', '--dir', directory, '--type', ...args])).code;
    expect(await list('payout.*')).toBe(0);
    expect(await list('payout.*', '--since', '2999-01-01')).toBe(0);
    expect(await list('payout.*', '--after', 'evt_1')).toBe(0);
    expect(await list('dispute.*')).toBe(0);
  });

  test.each([
    { args: ['replay', 'evt_1', '--limit', '1'], message: /--limit and --after take a part of the list/ },
    { args: ['replay', 'evt_1', '--after', 'a'], message: /--limit and --after take a part of the list/ },
    {
      args: ['replay', '--limit', '1'],
      message: /say which dead letters: ids, --all, --type, --reason or --since/,
    },
    { args: ['replay', '--all', '--limit', '0'], message: /It must be a whole number from 1 on\./ },
    { args: ['replay', '--all', '--limit', '1e3'], message: /It must be a whole number from 1 on\./ },
    {
      args: ['replay', '--all', '--after', 'evt_x'],
      message: /--after: no dead letter has the id "evt_x"; take an id .* or leave --after out/,
    },
    { args: ['drop', '--all', '--yes', '--after', 'evt_x'], message: /no dead letter has the id "evt_x"/ },
    { args: ['list', '--after', 'evt_x'], message: /no dead letter has the id "evt_x"/ },
    ...[['list'], ['replay'], ['drop', '--yes']].map((command) => ({
      args: [...command, '--type', 'transfr.*'],
      message: /--type: no dead letter has the type "transfr\.\*", .* the nearest is transfer\.\* \(/,
    })),
  ])('$args is exit code 2, and changes nothing', async ({ args, message }) => {
    const { file, left } = await fill(['evt_1', 'evt_2']);
    const ended = await posthorn(['dead-letters', ...args, '--receiver', file]);
    expect(ended).toEqual({ code: 2, stdout: '', stderr: expect.stringMatching(message) });
    expect(await left()).toEqual(['evt_1', 'evt_2']);
  });
});
