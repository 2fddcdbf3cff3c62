import { writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { useSqlite } from '../stores/sqlite/fixture.ts';
import { printed, refusal } from './ended.ts';
import { FIRST_AT, PARKED, STRIPE_KEY } from './journal-entries.ts';
import { jsonLines, paste } from './posthorn.ts';
import {
  BOOKING,
  handledEvent,
  handledEvents,
  OTHER_TYPE,
  openRerun,
  PRINTING_REPORTS,
} from './rerunning.ts';

const sqlite = useSqlite();
const three = handledEvents(['evt_1', 'evt_2', 'evt_3']);

describe('posthorn events rerun', () => {
  test('checks the events, runs them in the order in which they came, and passes over them afterwards', async () => {
    const { rerun, ledger } = await openRerun(sqlite, three.toReversed());
    expect(await rerun('--all', '--yes')).toEqual(
      printed(
        [
          '3 would run',
          'processed transfer.succeeded evt_1',
          'processed transfer.succeeded evt_2',
          'processed transfer.succeeded evt_3',
          '3 processed',
          '',
        ].join('\n'),
      ),
    );
    expect(ledger()).toEqual(['fix evt_1', 'fix evt_2', 'fix evt_3']);
    expect(await rerun('--all', '--yes')).toEqual({
      code: 0,
      stdout: '0 would run, 3 done by this run\n',
      stderr: 'nothing is left to run\n',
    });
    expect((await rerun('--all', '--yes', '--run', 'other')).stdout).toContain('\n3 processed\n');
    expect(ledger()).toHaveLength(6);
  });

  test('--dry-run counts by what would happen, names what is refused, and runs nothing', async () => {
    const { rerun, ledger } = await openRerun(sqlite, [
      ...three,
      handledEvent('evt_bodiless', { rawBody: undefined, headers: undefined }),
      handledEvent('evt_parked', PARKED),
      handledEvent('evt_other', OTHER_TYPE),
      handledEvent('evt_torn', { rawBody: Buffer.from('{') }),
      handledEvent('evt_1', { key: STRIPE_KEY, provider: 'stripe' }),
    ]);
    await rerun('evt_3', '--yes');
    const ended = await rerun('--all', '--dry-run');
    expect(ended.code).toBe(1);
    expect(ended.stdout.split('\n')).toEqual([
      '2 would run, 1 done by this run, 1 without a body, 2 not finished by book, 2 refused',
      'refused:',
      expect.stringMatching(/^ {2}evt_torn: the body is not JSON/),
      expect.stringMatching(
        /^ {2}evt_1: the event "evt_1" is of the provider "stripe", and this receiver is one/,
      ),
      '',
    ]);
    expect(ended.stderr).toMatch(
      /^without a body: the journal has no body of the event "evt_bodiless": .*\n$/,
    );
    expect(ledger()).toEqual(['fix evt_3']);
  });

  test('events that the handler did not finish are not a failure; the reason is printed if all are such', async () => {
    const { rerun } = await openRerun(sqlite, [handledEvent('evt_parked', PARKED)]);
    expect(await rerun('--all', '--yes')).toEqual({
      code: 0,
      stdout: '0 would run, 1 not finished by book\n',
      stderr: expect.stringMatching(
        /^not finished by book: "book" did not finish the event "evt_parked".* dead letter\nnothing is left to run\n$/,
      ),
    });
  });

  test('selects by type, resource, time and outcome', async () => {
    const { rerun, ledger } = await openRerun(sqlite, [
      handledEvent('evt_1', { resource: 'TR1' }),
      handledEvent('evt_2', { firstReceivedAt: FIRST_AT + 60_000 }),
      handledEvent('evt_3', { type: 'transfer.failed', outcome: 'parked', finality: 3 }),
    ]);
    const run = async (...args: string[]) => {
      const before = ledger().length;
      await rerun('--yes', '--run', args.join(' '), ...args);
      return ledger()
        .slice(before)
        .map((line) => line.split(' ').at(-1));
    };
    expect(await run('--type', 'transfer.succeeded')).toEqual(['evt_1', 'evt_2']);
    expect(await run('--resource', 'TR1')).toEqual(['evt_1']);
    expect(await run('--since', '2026-03-31T09:01')).toEqual(['evt_2']);
    expect(await run('--until', '2026-03-31T09:01')).toEqual(['evt_1', 'evt_3']);
    expect(await run('--outcome', 'parked')).toEqual(['evt_3']);
  });

  test('takes ids and keys, and runs them in the order in which the events came', async () => {
    const keyed = handledEvent('evt_4', { key: STRIPE_KEY, firstReceivedAt: FIRST_AT - 1 });
    const { rerun, ledger } = await openRerun(sqlite, [...three, keyed]);
    const ended = await rerun('evt_3', 'evt_1', STRIPE_KEY, 'evt_3', '--yes');
    expect(ended).toMatchObject({ code: 0, stdout: expect.stringMatching(/\n3 processed\n$/) });
    expect(ledger()).toEqual(['fix evt_4', 'fix evt_1', 'fix evt_3']);
    expect(await rerun('evt_2', 'evt_x', 'evt_y', '--yes')).toEqual(
      refusal(
        1,
        'posthorn: the journal has no event with the id "evt_x", "evt_y": nothing was run (failed)\n',
      ),
    );
  });

  test('prints one line for each event that is not passed over with --json, and two summaries', async () => {
    const { rerun } = await openRerun(sqlite, [
      ...handledEvents(['evt_1', 'evt_bad']),
      handledEvent('evt_bodiless', { rawBody: undefined, firstReceivedAt: FIRST_AT + 2 }),
      handledEvent('evt_other', OTHER_TYPE),
    ]);
    const ended = await rerun('--all', '--yes', '--json', '--reason', 'wrong amounts');
    expect(ended.code).toBe(1);
    const failed = { code: 'handler_failed', message: expect.stringContaining('no') };
    const ofRun = { handler: 'book', run: 'fix' };
    const refused = { noBody: 1, unfinished: 1, refused: 0 };
    const done = { processed: 1, superseded: 0, done: 0, failed: 1, busy: 0, ...refused, left: 0 };
    expect(jsonLines(ended)).toEqual([
      {
        kind: 'refused',
        id: 'evt_bodiless',
        type: 'transfer.succeeded',
        code: 'body_missing',
        message: expect.stringContaining('has no body'),
      },
      { kind: 'summary', dryRun: true, ...ofRun, wouldRun: 2, done: 0, running: 0, ...refused },
      {
        kind: 'rerun',
        id: 'evt_1',
        type: 'transfer.succeeded',
        outcome: 'processed',
        handlers: [{ name: 'book', ok: true, durationMs: expect.any(Number) }],
        warnings: [],
      },
      {
        kind: 'rerun',
        id: 'evt_bad',
        type: 'transfer.succeeded',
        outcome: 'failed',
        ...failed,
        handlers: [expect.objectContaining({ name: 'book', ok: false })],
        warnings: [],
      },
      {
        kind: 'summary',
        dryRun: false,
        ...ofRun,
        ...done,
        next: expect.stringMatching(
          /^posthorn events rerun --handler book --run fix --reason 'wrong amounts' --all --until \S+ --receiver \S+ --yes --json$/,
        ),
      },
    ]);
  });

  test('a failure is counted, and the printed command tries it again', async () => {
    const { at, ledger, rerun } = await openRerun(sqlite, handledEvents(['evt_1', 'evt_bad', 'evt_3']));
    const ended = await rerun('--type', 'transfer.*', '--yes');
    expect(ended.code).toBe(1);
    expect(ended.stdout).toContain('\nfailed transfer.succeeded evt_bad handler_failed: ');
    expect(ended.stdout).toMatch(/\n2 processed, 1 failed\nthe rest: posthorn events rerun .*\n$/);
    writeFileSync(at('go'), '');
    const next = ended.stdout.split('the rest: ').at(-1) ?? '';
    expect(await paste(next)).toMatch(
      /^1 would run, 2 done by this run\n[\s\S]*\n1 processed, 2 done before\n$/,
    );
    expect(ledger()).toEqual(['fix evt_1', 'fix evt_bad', 'fix evt_3', 'fix evt_bad']);
  });

  test('--bail ends after the first event that was not handled', async () => {
    const { rerun } = await openRerun(sqlite, handledEvents(['evt_1', 'evt_bad', 'evt_3', 'evt_4']));
    const ended = await rerun('--all', '--yes', '--bail');
    expect(ended.code).toBe(1);
    expect(ended.stdout).toContain('\n1 processed, 1 failed, 2 left\nthe rest: posthorn events rerun ');
  });

  test('--limit runs so many, and the same command goes on', async () => {
    const { rerun } = await openRerun(sqlite, handledEvents(['1', '2', '3', '4', '5']));
    const args = ['--all', '--yes', '--limit', '2', '--concurrency', '8'];
    expect((await rerun(...args)).stdout).toMatch(/\n2 processed, 3 left\nthe rest: .* --limit 2 --yes\n$/);
    expect((await rerun(...args)).stdout).toContain('\n2 processed, 2 done before, 1 left\n');
    expect((await rerun(...args)).stdout).toMatch(/\n1 processed, 4 done before\n$/);
  });

  test('events that come after the check are not run', async () => {
    // One is added before the second pass.
    const journal = `(() => {
      const own = createSqliteJournal(database, { scope: 'rerunning' });
      let lists = 0;
      const list = async function* (selection) {
        lists += 1;
        if (lists === 2) {
          const [at, outcome] = [Date.now(), { outcome: 'processed', finality: 4, handled: ['book'] }];
          const body = { id: 'evt_late', type: 'transfer.failed', created_at: new Date(at), data: {} };
          const record = { ...body, provider: 'banking-service', deliveries: 1, attempts: 1, ...outcome };
          const times = { firstReceivedAt: at, lastReceivedAt: at, decidedAt: at };
          const rawBody = Buffer.from(JSON.stringify(body));
          await own.record({ batchId: 'late', records: [{ ...record, ...times, rawBody }] });
        }
        yield* own.list(selection);
      };
      return { ...own, list };
    })()`;
    const { rerun } = await openRerun(sqlite, three, { journal });
    expect(await rerun('--all', '--yes')).toMatchObject(
      printed(expect.stringMatching(/^3 would run\n[\s\S]*\n3 processed\n$/)),
    );
    expect((await rerun('--all', '--dry-run')).stdout).toBe('1 would run, 3 done by this run\n');
  });

  test('an event that an inbox has a newer one of is superseded', async () => {
    const ofDay = (id: string, day: number, at: number) => {
      const body = {
        id,
        type: 'transfer.updated',
        created_at: `2026-03-0${day}T09:00:00Z`,
        data: { id: 'TR1' },
      };
      const rawBody = Buffer.from(JSON.stringify(body));
      return handledEvent(id, { type: body.type, rawBody, firstReceivedAt: FIRST_AT + at });
    };
    const handlers = `.on('*', createSqliteInbox(database, { scope: 'rerunning' }).once('book', () => {}, {
        latest: ({ data }) => data.id,
      }))`;
    const { rerun } = await openRerun(sqlite, [ofDay('evt_new', 2, 0), ofDay('evt_old', 1, 1)], { handlers });
    expect(await rerun('--all', '--yes')).toEqual(
      printed(
        [
          '2 would run',
          'processed transfer.updated evt_new',
          'superseded transfer.updated evt_old',
          '1 processed, 1 superseded',
          '',
        ].join('\n'),
      ),
    );
  });

  test('what is passed over is not reported to observers', async () => {
    const handlers = BOOKING + PRINTING_REPORTS;
    const parked = handledEvent('evt_parked', PARKED);
    const { rerun } = await openRerun(sqlite, [...three, parked], { handlers });
    expect((await rerun('evt_2', '--yes')).stderr).toBe('processed evt_2\n');
    expect((await rerun('--all', '--yes')).stderr).toBe('processed evt_1\nprocessed evt_3\n');
  });
});
