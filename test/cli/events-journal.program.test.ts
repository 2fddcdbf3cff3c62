import type { JournalRecord } from 'posthorn';
import { describe, expect, test } from 'vitest';
import { useDatabase } from '../stores/postgres/fixture.ts';
import { printed, refusal } from './ended.ts';
import {
  ACME_KEY,
  FIRST_AT,
  ofAcme,
  ofStripe,
  openJournal,
  PARKED,
  record,
  recordsOf,
} from './journal-entries.ts';
import { type Ended, jsonLines, paste, posthornProcess } from './posthorn.ts';

const database = useDatabase();
const HOUR_MS = 3_600_000;
const open = (records: readonly JournalRecord[]) => openJournal(database, records);

const idsOf = (ended: Ended): unknown[] =>
  jsonLines(ended).flatMap(({ kind, id }) => (kind === 'event' ? [id] : []));

describe('posthorn events list', () => {
  test('prints a line for each event, the oldest first', async () => {
    const { run } = await open([
      record('evt_late', { ...PARKED, deliveries: 4, attempts: 4, firstReceivedAt: FIRST_AT + 1 }),
      record('evt_first'),
      record('digest', { type: undefined, outcome: 'rejected', code: 'event_invalid', attempts: 0 }),
      { ...ofAcme, firstReceivedAt: FIRST_AT + 2 },
    ]);
    expect(await run('list')).toEqual(
      printed(
        [
          '2026-03-31T09:00:30.000Z ? digest 1 delivery, 0 attempts, rejected: event_invalid',
          '2026-03-31T09:00:30.000Z transfer.succeeded evt_first 1 delivery, 1 attempt, processed',
          '2026-03-31T09:00:30.001Z transfer.succeeded evt_late 4 deliveries, 4 attempts, parked: handler_failed',
          '2026-03-31T09:00:30.002Z push evt_1 (acme north) 1 delivery, 1 attempt, processed',
          '4 events',
          '',
        ].join('\n'),
      ),
    );
  });

  test('prints JSON lines without bodies and headers', async () => {
    const { run } = await open([
      record('evt_1', { createdAt: FIRST_AT - 1_500, resource: 'TR1' }),
      { ...ofAcme, ...PARKED, firstReceivedAt: FIRST_AT + 1, lastReceivedAt: FIRST_AT + 2 },
    ]);
    expect(jsonLines(await run('list --json'))).toEqual([
      {
        kind: 'event',
        id: 'evt_1',
        type: 'transfer.succeeded',
        provider: 'banking-service',
        createdAt: '2026-03-31T09:00:28.500Z',
        firstReceivedAt: '2026-03-31T09:00:30.000Z',
        lastReceivedAt: '2026-03-31T09:00:30.000Z',
        deliveries: 1,
        attempts: 1,
        outcome: 'processed',
        handled: ['book'],
        resource: 'TR1',
      },
      {
        kind: 'event',
        id: 'evt_1',
        key: ACME_KEY,
        type: 'push',
        provider: 'acme',
        account: 'north',
        firstReceivedAt: '2026-03-31T09:00:30.001Z',
        lastReceivedAt: '2026-03-31T09:00:30.002Z',
        deliveries: 1,
        attempts: 1,
        outcome: 'parked',
        code: 'handler_failed',
        handled: [],
      },
      { kind: 'summary', events: 2, more: false },
    ]);
  });

  test('selects by type, outcome, resource and time', async () => {
    const { run } = await open([
      record('evt_1', { resource: 'TR1' }),
      record('evt_2', { type: 'dispute.lost', firstReceivedAt: FIRST_AT + HOUR_MS }),
      record('evt_3', { ...PARKED, firstReceivedAt: FIRST_AT + 2 * HOUR_MS }),
      record('evt_4', { resource: 'TR1', firstReceivedAt: Date.now() - HOUR_MS }),
    ]);
    const listed = async (options: string) => idsOf(await run(`list --json ${options}`));
    expect(await listed('--type transfer.*')).toEqual(['evt_1', 'evt_3', 'evt_4']);
    expect(await listed('--type dispute.lost')).toEqual(['evt_2']);
    expect(await listed('--outcome parked')).toEqual(['evt_3']);
    expect(await listed('--resource TR1 --type *')).toEqual(['evt_1', 'evt_4']);
    expect(await listed('--since 2026-03-31T10:00:30')).toEqual(['evt_2', 'evt_3', 'evt_4']);
    expect(await listed('--since 2026-03-31T10:01')).toEqual(['evt_3', 'evt_4']);
    expect(await listed('--since 2026-03-31T12:00:31+02:00')).toEqual(['evt_3', 'evt_4']);
    expect(await listed('--until 2026-03-31T10:00:30Z')).toEqual(['evt_1']);
    expect(await listed('--until 2026-03-31T10:01Z')).toEqual(['evt_1', 'evt_2']);
    expect(await listed('--since 2026-03-31T11:01+01:00')).toEqual(['evt_3', 'evt_4']);
    expect(await listed('--since 2h')).toEqual(['evt_4']);
    expect(await listed('--since 2026-03-31 --until 30m')).toEqual(['evt_1', 'evt_2', 'evt_3', 'evt_4']);
    expect(await listed('--after evt_2 --resource TR1')).toEqual(['evt_4']);
  });

  test('--limit takes the first ones, and the printed command goes on to the end', async () => {
    const { run } = await open([
      ...recordsOf(['evt_1', 'evt_2', 'evt_3', 'evt_4', 'evt_5']).map((each) => ({ ...each, ...PARKED })),
      { ...ofStripe, ...PARKED, firstReceivedAt: FIRST_AT + 1 },
      record('evt_handled', { firstReceivedAt: FIRST_AT + 2, resource: 'TR1' }),
      record('evt_retried', { firstReceivedAt: FIRST_AT + 3, resource: 'TR1' }),
      record('evt_now', { ...PARKED, firstReceivedAt: Date.now() }),
    ]);
    let ended = await run('list --outcome parked --since 2026-03-01 --until 1h --limit 2 --json');
    const pages: unknown[] = [];
    for (;;) {
      pages.push(idsOf(ended));
      const { next, more } = jsonLines(ended).at(-1) ?? {};
      expect(more).toBe(next !== undefined);
      if (typeof next !== 'string') break;
      const stdout = await paste(next, { POSTGRES_URL: database.url() });
      ended = { code: 0, stderr: '', stdout };
    }
    expect(pages).toEqual([
      ['evt_1', 'evt_1'],
      ['evt_2', 'evt_3'],
      ['evt_4', 'evt_5'],
    ]);
    const text = await run('list --limit 1 --type * --resource TR1 --since 2026-03-01');
    expect(text.stdout).toMatch(
      /\n1 event, and more beyond --limit\nthe rest: posthorn events list --type '\*' --resource TR1 --since 2026-03-01T00:00:00\.000Z --limit 1 --after evt_handled --scope billing-\d+\n$/,
    );
  });

  test('ends well when its reader has seen enough, and holds a few events at a time', async () => {
    const handled = ['x'.repeat(30_000)];
    const ids = Array.from({ length: 2_000 }, (_, index) => `evt_${index}`);
    const { scope } = await open(recordsOf(ids).map((each) => ({ ...each, handled })));
    const args = `events list --scope ${scope}`;
    const env = { POSTGRES_URL: database.url() };
    const stdout = await paste(`bash -c 'set -o pipefail; posthorn ${args} --json | head -n 1'`, env);
    expect(JSON.parse(stdout)).toMatchObject({ id: 'evt_0' });
    // Less than the 60 MB that the events have together, and far more than the program and a portion of them.
    const limits = { NODE_OPTIONS: '--max-old-space-size=48' };
    const all = await posthornProcess(args, { env: { ...env, ...limits } });
    expect(all).toMatchObject({ code: 0, stderr: '' });
    expect(all.stdout).toMatch(/ evt_1999 .*\n2000 events\n$/);
  });

  test('a misspelt type names the nearest, but a type of another sender or of the list does not', async () => {
    const own = await open([record('evt_1')]);
    const misspelt = refusal(
      2,
      'posthorn: --type: no event of the journal has the type "transfer.suceeded", and the service does not list ' +
        'it; the nearest is transfer.succeeded (usage_invalid)\n',
    );
    expect(await own.run('list --type transfer.suceeded')).toEqual(misspelt);
    expect(await own.run('list --type dispute.lost')).toEqual(printed('0 events\n'));
    expect(await own.run('list --type transfer.* --outcome parked')).toEqual(printed('0 events\n'));
    const added = await open([record('evt_1', { type: 'payout.created' })]);
    expect(await added.run('list --type payout.created --outcome parked')).toEqual(printed('0 events\n'));
    const others = await open([ofStripe]);
    expect(await others.run('list --type invoice.void')).toEqual(printed('0 events\n'));
    const empty = await open([]);
    expect(await empty.run('list --type transfer.suceeded')).toEqual(misspelt);
  });

  test('says of a scope without events that it may be misspelt', async () => {
    const { run, scope } = await open([]);
    for (const command of ['list', 'prune --older-than 1d --yes'])
      expect(await run(command)).toMatchObject({
        code: 0,
        stderr: `posthorn: the journal has no event in the scope "${scope}": a misspelt scope or another database looks the same\n`,
      });
  });
});
