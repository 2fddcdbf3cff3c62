import type { JournalRecord } from 'posthorn';
import { createPostgresJournal } from 'posthorn/postgres';
import { describe, expect, test } from 'vitest';
import { useDatabase } from '../stores/postgres/fixture.ts';
import { readAll } from '../support/read-all.ts';
import { printed, refusal } from './ended.ts';
import { FIRST_AT, fillJournal, PARKED, record, recordsOf } from './journal-entries.ts';
import { type Ended, jsonLines, paste, posthorn, posthornProcess } from './posthorn.ts';

const database = useDatabase();
const HOUR_MS = 3_600_000;
let scopes = 0;

/** A scope of its own with these records, and a way to run commands on it. */
async function open(records: readonly JournalRecord[]) {
  scopes += 1;
  const scope = `billing-${scopes}`;
  const journal = createPostgresJournal(database.connect({ max: 2 }), { scope });
  await fillJournal(journal, records);
  const run = (command: string, ...more: readonly string[]): Promise<Ended> =>
    posthorn([...`events ${command} --scope ${scope}`.split(' '), ...more], {
      env: { POSTGRES_URL: database.url() },
    });
  const ids = async () => (await readAll(journal.list())).map(({ id }) => id);
  return { scope, journal, run, ids };
}

const idsOf = (ended: Ended): unknown[] =>
  jsonLines(ended).flatMap(({ kind, id }) => (kind === 'event' ? [id] : []));

const STRIPE_KEY = 'handled:from:6:stripe:-:evt_1';
const ACME_KEY = 'handled:from:4:acme:-:evt_1';
const ofStripe = record('evt_1', { key: STRIPE_KEY, provider: 'stripe', type: 'invoice.paid' });
const ofAcme = record('evt_1', { key: ACME_KEY, provider: 'acme', account: 'north', type: 'push' });

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
    expect(await listed('--since 2026-03-31T12:00:31+02:00')).toEqual(['evt_3', 'evt_4']);
    expect(await listed('--until 2026-03-31T10:00:30Z')).toEqual(['evt_1']);
    expect(await listed('--since 2h')).toEqual(['evt_4']);
    expect(await listed('--since 2026-03-31 --until 30m')).toEqual(['evt_1', 'evt_2', 'evt_3', 'evt_4']);
    expect(await listed('--after evt_2 --resource TR1')).toEqual(['evt_4']);
  });

  test('--limit takes the first ones, and the printed command goes on to the end', async () => {
    const { run } = await open([
      ...recordsOf(['evt_1', 'evt_2', 'evt_3', 'evt_4', 'evt_5']).map((each) => ({ ...each, ...PARKED })),
      { ...ofStripe, ...PARKED, firstReceivedAt: FIRST_AT + 1 },
      record('evt_handled', { firstReceivedAt: FIRST_AT + 2 }),
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
    const text = await run('list --limit 1 --type *');
    expect(text.stdout).toMatch(
      /\n1 event, and more beyond --limit\nthe rest: posthorn events list --type '\*' --limit 1 --after evt_1 --scope billing-\d+\n$/,
    );
  });

  test('ends well when its reader has seen enough, and takes the memory of a few events', async () => {
    // Together more than the memory of the command below.
    const headers = { 'x-note': ['x'.repeat(20_000)] };
    const ids = Array.from({ length: 3_000 }, (_, index) => `evt_${index}`);
    const { scope } = await open(recordsOf(ids).map((each) => ({ ...each, headers })));
    const args = `events list --scope ${scope} --json`;
    const env = { POSTGRES_URL: database.url() };
    const stdout = await paste(`bash -c 'set -o pipefail; posthorn ${args} | head -n 1'`, env);
    expect(JSON.parse(stdout)).toMatchObject({ id: 'evt_0' });
    const all = await posthornProcess(args, { env: { ...env, NODE_OPTIONS: '--max-old-space-size=40' } });
    expect(all).toMatchObject({ code: 0, stderr: '' });
    expect(jsonLines(all).at(-1)).toEqual({ kind: 'summary', events: 3_000, more: false });
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

describe('posthorn events show', () => {
  test('shows an event with its headers and its body, by its id or its key', async () => {
    const { run } = await open([{ ...ofAcme, rawBody: Buffer.from('{\n\t"a": "\u001b[31mé"\n}') }]);
    const shown = await run('show evt_1');
    expect(shown).toEqual(
      printed(
        [
          'id evt_1',
          `key ${ACME_KEY}`,
          'type push',
          'provider acme',
          'account north',
          'firstReceivedAt 2026-03-31T09:00:30.000Z',
          'lastReceivedAt 2026-03-31T09:00:30.000Z',
          'deliveries 1',
          'attempts 1',
          'outcome processed',
          'handled book',
          'headers',
          '  content-type application/json',
          'body, 19 bytes',
          '{',
          '\t"a": "\\u{1b}[31mé"',
          '}',
          '',
        ].join('\n'),
      ),
    );
    expect(await run(`show ${ACME_KEY}`)).toEqual(shown);
  });

  test('--json has the bytes, and the text if they are one', async () => {
    const { run } = await open([record('evt_1'), record('evt_2', { rawBody: Buffer.from([0xff, 0]) })]);
    const [text] = jsonLines(await run('show evt_1 --json'));
    expect(text).toMatchObject({
      kind: 'event',
      id: 'evt_1',
      headers: { 'content-type': ['application/json'] },
      body: '{"id":"evt_1","type":"transfer.succeeded"}',
    });
    expect(Buffer.from(String(text?.rawBody), 'base64').toString()).toBe(text?.body);
    const [bytes] = jsonLines(await run('show evt_2 --json'));
    expect(bytes).toMatchObject({ rawBody: '/wA=' });
    expect(bytes).not.toHaveProperty('body');
  });

  test('says that a body is not kept', async () => {
    const { run } = await open([record('evt_1', { rawBody: undefined, headers: undefined })]);
    expect((await run('show evt_1')).stdout).toMatch(/\nhandled book\nits body is not kept\n$/);
    expect(jsonLines(await run('show evt_1 --json'))[0]).not.toHaveProperty('rawBody');
  });

  test('an unknown id, and one of several senders, are exit code 1', async () => {
    const { run } = await open([ofStripe, ofAcme]);
    expect(await run('show evt_x')).toEqual(
      refusal(1, 'posthorn: the journal has no event with the id "evt_x" (failed)\n'),
    );
    const ambiguous = refusal(
      1,
      expect.stringMatching(
        RegExp(
          `^posthorn: several senders gave the id "evt_1": .*"${ACME_KEY}".* \\(journal_id_ambiguous\\)\n$`,
        ),
      ),
    );
    expect(await run('show evt_1')).toEqual(ambiguous);
    expect(await run('list --after evt_1')).toEqual(ambiguous);
    expect(await run(`show ${STRIPE_KEY}`)).toMatchObject({ code: 0 });
  });
});

describe('posthorn events prune', () => {
  const old = (days: number) =>
    record(`evt_${days}`, { firstReceivedAt: Date.now() - days * 24 * HOUR_MS, lastReceivedAt: Date.now() });

  test('deletes what was first received longer ago, and --dry-run counts it', async () => {
    const { run, ids } = await open([old(1), old(29), old(31), old(100)]);
    expect(await run('prune --older-than 30d --dry-run')).toEqual(printed('2 would be pruned\n'));
    expect(await ids()).toEqual(['evt_100', 'evt_31', 'evt_29', 'evt_1']);
    expect(await run('prune --older-than 30d --yes')).toEqual(printed('2 pruned\n'));
    expect(await ids()).toEqual(['evt_29', 'evt_1']);
    expect(jsonLines(await run('prune --older-than 2d --dry-run --json'))).toEqual([
      { kind: 'summary', dryRun: true, pruned: 1 },
    ]);
    expect(jsonLines(await run('prune --older-than 12h --yes --json'))).toEqual([
      { kind: 'summary', dryRun: false, pruned: 2 },
    ]);
    expect(await ids()).toEqual([]);
  });

  test('does nothing without --yes if there is no terminal to ask on', async () => {
    const { run, ids } = await open([old(31)]);
    expect(await run('prune --older-than 30d')).toEqual(
      refusal(
        2,
        'posthorn: without a terminal to ask on, prune needs --yes; --dry-run counts the events (usage_invalid)\n',
      ),
    );
    expect(await ids()).toEqual(['evt_31']);
  });
});
