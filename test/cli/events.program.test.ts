import { createSqliteStore } from 'posthorn/sqlite';
import { describe, expect, test } from 'vitest';
import { useSqlite } from '../stores/sqlite/fixture.ts';
import { acceptEvents, acceptFile, eventOf, storeIn, writeEvents } from './accepting.ts';
import { printed } from './ended.ts';
import { jsonLines } from './posthorn.ts';

const sqlite = useSqlite();
const DAY_MS = 86_400_000;
const HOLD_MS = 3_600_000;

const old = (id: string): object =>
  eventOf(id, { created_at: new Date(Date.now() - 3 * DAY_MS).toISOString() });

/** The store of the receiver, in which some events are completed and others running. */
async function storeWith(completed: readonly string[], running: readonly string[] = []): Promise<string> {
  const store = createSqliteStore(await sqlite.openMigrated(), { scope: 'accepting' });
  for (const id of [...completed, ...running])
    await store.claim({ id, token: 'run', leaseMs: HOLD_MS, retentionMs: HOLD_MS });
  for (const id of completed) await store.complete({ id, token: 'run', retentionMs: HOLD_MS });
  return storeIn(sqlite.path);
}

describe('posthorn events accept', () => {
  test('checks the file, and then accepts its events in their order', async () => {
    const events = ['evt_1', 'evt_2', 'evt_3'].map((id) => eventOf(id));
    expect(await acceptEvents(events)).toMatchObject(
      printed(
        [
          '3 would run',
          '  transfer.succeeded 3 would run',
          'processed transfer.succeeded evt_1',
          'processed transfer.succeeded evt_2',
          'processed transfer.succeeded evt_3',
          '3 processed',
          '',
        ].join('\n'),
      ),
    );
  });

  test('run again passes over what is known', async () => {
    const parts = { store: await storeWith([]) };
    const file = writeEvents([eventOf('evt_1'), eventOf('evt_2'), eventOf('evt_1')]);
    const first = await acceptFile(file, ['--yes'], parts);
    expect(first.stdout).toMatch(/^3 would run\n[\s\S]*\n2 processed, 1 known\n$/);
    const again = await acceptFile(file, ['--yes'], parts);
    expect(again).toMatchObject({
      code: 0,
      stdout: '0 would run, 3 known\n  transfer.succeeded 3 known\n',
      stderr: 'nothing is left to accept\n',
    });
  });

  test('--dry-run counts by what would happen and by type, and claims nothing', async () => {
    const parts = { store: await storeWith(['evt_known'], ['evt_running']) };
    const events = [
      old('evt_old'),
      ...['evt_1', 'evt_2', 'evt_known', 'evt_running'].map((id) => eventOf(id)),
      eventOf('evt_other', { type: 'dispute.won' }),
      'not JSON',
    ];
    const ended = await acceptEvents(events, ['--dry-run'], parts);
    expect(ended.code).toBe(1);
    expect(ended.stdout.split('\n')).toEqual([
      '2 would run, 1 known, 1 running elsewhere, 1 without a handler, 1 too old, 1 unreadable',
      '  transfer.succeeded 2 would run, 1 known, 1 running elsewhere, 1 too old',
      '  dispute.won 1 without a handler',
      'unreadable:',
      '  line 7: it is not JSON',
      '',
    ]);
    expect(ended.stderr).toMatch(/^too old: the event was created at .*: --allow-forgotten\n$/);
    const store = createSqliteStore(sqlite.open(), { scope: 'accepting' });
    expect(await store.peek?.({ id: 'evt_1' })).toEqual({ state: 'unknown' });
  });

  test('--dry-run --json prints the counts, by type too, and each line that is unreadable', async () => {
    const counts = ['wouldRun', 'known', 'parked', 'running', 'ignored', 'tooOld', 'unreadable', 'uncertain'];
    const none = Object.fromEntries(counts.map((name) => [name, 0]));
    const junk = Array.from({ length: 12 }, () => '{"id":5}');
    const ended = await acceptEvents([eventOf('evt_1'), ...junk], ['--dry-run', '--json']);
    const lines = jsonLines(ended);
    expect(lines).toHaveLength(13);
    expect(lines[0]).toMatchObject({
      kind: 'unreadable',
      line: 2,
      message: expect.stringMatching(/^the body is not/),
    });
    expect(lines.at(-1)).toEqual({
      kind: 'summary',
      dryRun: true,
      ...none,
      wouldRun: 1,
      unreadable: 12,
      otherTypes: 0,
      newestFirst: false,
      types: [{ type: 'transfer.succeeded', ...none, wouldRun: 1 }],
    });
  });

  test('names the first ten unreadable lines, and counts the others', async () => {
    const lines = Array.from({ length: 12 }, () => '{');
    const { stdout } = await acceptEvents([eventOf('evt_1'), ...lines], ['--dry-run']);
    expect(stdout.match(/^ {2}line \d+: it is not JSON$/gm)).toHaveLength(10);
    expect(stdout).toMatch(/\n {2}and 2 more lines\n$/);
  });

  test('--json prints one line for each event that is not passed over, and a summary', async () => {
    const events = [eventOf('evt_1'), eventOf('evt_bad'), eventOf('evt_won', { type: 'dispute.won' })];
    const ended = await acceptEvents(events, ['--yes', '--json']);
    expect(ended.code).toBe(1);
    expect(jsonLines(ended).slice(1)).toEqual([
      {
        kind: 'accept',
        line: 1,
        id: 'evt_1',
        type: 'transfer.succeeded',
        outcome: 'processed',
        handlers: [{ name: 'book', ok: true, durationMs: expect.any(Number) }],
        warnings: [],
      },
      expect.objectContaining({
        line: 2,
        id: 'evt_bad',
        outcome: 'failed',
        code: 'handler_failed',
        message: 'the handler "book" failed: no',
      }),
      {
        kind: 'summary',
        dryRun: false,
        processed: 1,
        queued: 0,
        known: 0,
        ignored: 1,
        parked: 0,
        parkedBefore: 0,
        failed: 1,
        busy: 0,
        tooOld: 0,
        unreadable: 0,
        left: 0,
      },
    ]);
  });

  test('parks what its handlers fail, and says the command that replays it', async () => {
    const ended = await acceptEvents([eventOf('evt_bad')], ['--yes'], { options: 'deadLetters' });
    expect(ended.code).toBe(1);
    expect(ended.stdout).toContain(
      '\nparked transfer.succeeded evt_bad handler_failed: the handler "book" failed: no\n0 processed, 1 parked\n',
    );
    expect(ended.stdout.split('\n').at(-2)).toBe(
      `the parked: posthorn dead-letters replay --reason handler_failed --receiver ${ended.receiver}`,
    );
  });

  test('counts as queued what a worker will handle', async () => {
    const options = 'queue: { add: async () => {}, close: async () => {} },';
    const handlers = ".on('*', () => {}, { name: 'book', queue: true })";
    const ended = await acceptEvents([eventOf('evt_1')], ['--yes'], { options, handlers });
    expect(ended).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/\nqueued \S+ evt_1\n0 processed, 1 queued\n$/),
    });
  });

  test('reports say which file an event came from', async () => {
    const handlers = ".observe(({ acceptedFrom }) => console.error(acceptedFrom)).on('*', () => {})";
    const file = writeEvents([eventOf('evt_1')], `${'long '.repeat(48)}.jsonl`);
    const { stderr } = await acceptFile(file, ['--yes'], { handlers });
    expect(stderr).toBe(`${`posthorn events accept ${'long '.repeat(48)}`.slice(0, 200)}\n`);
  });

  test('refuses what the store may have forgotten, unless --allow-forgotten is given', async () => {
    const file = writeEvents([old('evt_old'), old('evt_older')]);
    const refused = await acceptFile(file);
    expect(refused).toMatchObject({
      code: 1,
      stdout: '0 would run, 2 too old\n  transfer.succeeded 2 too old\n',
    });
    expect(refused.stderr.match(/too old: /g)).toHaveLength(1);
    const accepted = await acceptFile(file, ['--yes', '--allow-forgotten']);
    expect(accepted).toMatchObject({ code: 0, stdout: expect.stringMatching(/\n2 processed\n$/) });
  });

  test('says that it cannot tell what a store without peek knows, and accepts it', async () => {
    const parts = { store: '{ ...createMemoryStore(), peek: undefined }' };
    const ended = await acceptEvents([eventOf('evt_1')], ['--yes'], parts);
    expect(ended).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^0 would run, 1 uncertain\n[\s\S]*\n1 processed\n$/),
      stderr: expect.stringMatching(/^uncertain: the store has no peek/),
    });
  });

  test('notes that most events are newest first', async () => {
    const at = (id: string, ageMs: number) =>
      eventOf(id, { created_at: new Date(Date.now() - ageMs).toISOString() });
    const ages = [1_000, 2_000, 5_000, 3_000, 4_000];
    const events = ages.map((ageMs, index) => at(`evt_${index}`, ageMs));
    const note = /^most events are newest first, .* `tac` /;
    expect((await acceptEvents(events, ['--dry-run'])).stderr).toMatch(note);
    expect((await acceptEvents(events.toReversed(), ['--dry-run'])).stderr).toBe('');
  });
});

describe('posthorn events accept --type', () => {
  const events = [
    eventOf('evt_1'),
    eventOf('evt_2', { type: 'transfer.failed' }),
    eventOf('evt_3', { type: 'dispute.won' }),
  ];
  const handlers = ".on('*', () => {})";

  test('accepts only events of the type', async () => {
    const { code, stdout } = await acceptEvents(events, ['--yes', '--type', 'transfer.*'], { handlers });
    expect(code).toBe(0);
    expect(stdout).toMatch(/^2 would run, 1 of other types\n[\s\S]*\n2 processed\n$/);
    expect(stdout).not.toContain('dispute');
  });

  test('names the nearest of a misspelt type', async () => {
    expect(await acceptEvents(events, ['--yes', '--type', 'transfer.suceeded'], { handlers })).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining('the nearest is transfer.succeeded (usage_invalid)'),
    });
  });

  test('names the nearest type of the file, for a provider without a list of types', async () => {
    const options = 'provider: providers.stripe(),';
    const created = Math.floor(Date.now() / 1_000);
    const paid = { id: 'evt_1', type: 'invoice.paid', created, data: { object: {} } };
    const ended = await acceptEvents([paid], ['--yes', '--type', 'invoice.payed'], { options, handlers });
    expect(ended).toMatchObject({
      code: 0,
      stdout: '0 would run, 1 of other types\n',
      stderr: expect.stringContaining('the nearest of its types is invoice.paid\n'),
    });
  });
});
