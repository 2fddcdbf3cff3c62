import { createPostgresJournal } from 'posthorn/postgres';
import { beforeAll, describe, expect, test } from 'vitest';
import { ampleJournal } from '../stores/kit/journal/journal-case.ts';
import { useDatabase } from '../stores/postgres/fixture.ts';
import { readAll } from '../support/read-all.ts';
import { FIRST_AT, fillJournal, PARKED, record, recordsOf } from './journal-entries.ts';
import { onTerminal } from './posthorn.ts';

const database = useDatabase();

/** The text that a terminal of so many columns gets, without its colours. */
function onTerminalOf(columns: number, args: string, input = ''): { status: number | null; text: string } {
  const command = `events ${args} --postgres ${database.url()}`;
  const { status, stdout } = onTerminal(command, input, `stty cols ${columns}; NO_COLOR=1 `);
  return { status, text: stdout.replaceAll('\r\n', '\n') };
}

const openJournal = (scope: string) => createPostgresJournal(database.connect(), { scope, ...ampleJournal });

describe('on a terminal', () => {
  beforeAll(async () => {
    const own = [
      record('evt_1', { ...PARKED, deliveries: 12, attempts: 4 }),
      record('evt_two', { type: 'dispute.lost', firstReceivedAt: FIRST_AT + 60_000 }),
    ];
    await fillJournal(openJournal('own'), own);
    const key = 'handled:from:6:stripe:-:evt_1';
    const other = record('evt_1', {
      key,
      provider: 'stripe',
      type: 'no\nway',
      firstReceivedAt: FIRST_AT + 1,
    });
    await fillJournal(openJournal('several'), [...own, other]);
    const many = Array.from({ length: 1_001 }, (_, index) => `evt_${index}`);
    await fillJournal(openJournal('many'), recordsOf(many));
  });

  test('list is a table, whose outcomes are not cut', () => {
    const { status, text } = onTerminalOf(100, 'list --scope own');
    expect(status).toBe(0);
    expect(text.split('\n')).toEqual([
      'FIRST RECEIVED     TYPE                ID       DELIVERIES  ATTEMPTS  OUTCOME',
      '2026-03-31T09:00Z  transfer.succeeded  evt_1            12         4  parked: handler_failed',
      '2026-03-31T09:01Z  dispute.lost        evt_two           1         1  processed',
      '2 events',
      '',
    ]);
  });

  test('the table names the sender if there is another one', () => {
    const { text } = onTerminalOf(120, 'list --scope several');
    expect(text.split('\n').slice(0, 3)).toEqual([
      'FIRST RECEIVED     TYPE                ID       SENDER  DELIVERIES  ATTEMPTS  OUTCOME',
      '2026-03-31T09:00Z  transfer.succeeded  evt_1                    12         4  parked: handler_failed',
      '2026-03-31T09:00Z  no\\u{a}way          evt_1    stripe           1         1  processed',
    ]);
  });

  test('each event has three lines where the table does not fit', () => {
    const { text } = onTerminalOf(60, 'list --scope several --limit 2');
    expect(text.split('\n').slice(0, 6)).toEqual([
      'evt_1',
      '  transfer.succeeded, first received 2026-03-31T09:00Z',
      '  parked: handler_failed, deliveries: 12, attempts: 4',
      'evt_1',
      '  no\\u{a}way of stripe, first received 2026-03-31T09:00Z',
      '  processed, deliveries: 1, attempts: 1',
    ]);
  });

  test('a long list has a table for each thousand', () => {
    const lines = onTerminalOf(100, 'list --scope many').text.split('\n');
    const titles = lines.flatMap((line, index) => (line.startsWith('FIRST RECEIVED') ? [index] : []));
    expect(titles).toEqual([0, 1_001]);
    expect(lines.slice(-3)).toEqual([expect.stringContaining(' evt_1000 '), '1001 events', '']);
  });

  test.each([
    { answer: 'y\n', status: 0, said: '1 pruned', left: ['evt_new'] },
    {
      answer: 'n\n',
      status: 1,
      said: 'posthorn: nothing was deleted (failed)',
      left: ['evt_old', 'evt_new'],
    },
  ])('prune asks, and takes $answer', async ({ answer, status, said, left }) => {
    const scope = `asked-${status}`;
    const journal = openJournal(scope);
    await fillJournal(journal, [record('evt_old'), record('evt_new', { firstReceivedAt: Date.now() })]);
    const ended = onTerminalOf(200, `prune --older-than 2h --scope ${scope}`, answer);
    expect(ended.status).toBe(status);
    expect(ended.text).toMatch(
      /Delete the events of the journal that were first received before \S+Z\? They cannot be shown afterwards\. \[y\/N\] /,
    );
    expect(ended.text).toContain(said);
    expect((await readAll(journal.list())).map(({ id }) => id)).toEqual(left);
  });
});
