import type { JournalRecord } from 'posthorn';
import { describe, expect, test } from 'vitest';
import { useDatabase } from '../stores/postgres/fixture.ts';
import { printed, refusal } from './ended.ts';
import { ACME_KEY, ofAcme, ofStripe, openJournal, record, STRIPE_KEY } from './journal-entries.ts';
import { jsonLines } from './posthorn.ts';

const database = useDatabase();
const HOUR_MS = 3_600_000;
const open = (records: readonly JournalRecord[]) => openJournal(database, records);

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

  test('does nothing without --yes and without a terminal', async () => {
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
