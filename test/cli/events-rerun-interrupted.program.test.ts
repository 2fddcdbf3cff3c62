import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createPostgresJournal } from 'posthorn/postgres';
import { createSqliteJournal } from 'posthorn/sqlite';
import { describe, expect, test } from 'vitest';
import { ampleJournal } from '../stores/kit/journal/journal-case.ts';
import { useDatabase } from '../stores/postgres/fixture.ts';
import { useSqlite } from '../stores/sqlite/fixture.ts';
import { until } from '../support/until.ts';
import { fillJournal } from './journal-entries.ts';
import { jsonLines, posthornProcess, startPosthornProcess } from './posthorn.ts';
import { writeModule } from './receiver-module.ts';
import {
  BOOKING,
  handledEvents,
  openRerun,
  PRINTING_REPORTS,
  type RerunModule,
  rerunModule,
} from './rerunning.ts';

const sqlite = useSqlite();
const database = useDatabase();

/** A receiver whose leases end soon, so that a command that was killed leaves its events soon. */
const SHORT_LEASES = 'leaseMs: 1_000,';

const few = handledEvents(['evt_1', 'evt_held', 'evt_3', 'evt_4']);

async function startHeld(parts: RerunModule = { options: SHORT_LEASES }) {
  const opened = await openRerun(sqlite, few, parts);
  const words = opened.words('--all', '--yes');
  const command = startPosthornProcess(words);
  await until('the handler of evt_held runs', () => opened.ledger().includes('fix evt_held'));
  return { ...opened, words, command, go: () => writeFileSync(opened.at('go'), '') };
}

describe('posthorn events rerun that is interrupted', () => {
  test.each([
    { signal: 'SIGINT', code: 130 },
    { signal: 'SIGTERM', code: 143 },
  ] as const)('by $signal finishes the current event, and says what is left', async ({ signal, code }) => {
    const { command, go, ledger, receiver, words } = await startHeld();
    command.kill(signal);
    await command.line(new RegExp(`^posthorn: ${signal}: the current events are finished first\\.`));
    go();
    expect(await command.exit).toBe(code);
    const [counts, rest = ''] = command.lines.slice(-2);
    expect(counts).toBe('2 processed, 2 left');
    expect(rest.replace(/\d{4}-\S+Z/, 'TIME')).toBe(
      `the rest: posthorn events rerun --handler book --run fix --all --until TIME --receiver ${receiver} --yes`,
    );
    const again = await posthornProcess(words);
    expect(again).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/\n2 processed, 2 done before\n$/),
    });
    expect(ledger()).toEqual(['fix evt_1', 'fix evt_held', 'fix evt_3', 'fix evt_4']);
  });

  test('by a second signal ends at once, and the same command waits for the lease', async () => {
    const handlers = BOOKING + PRINTING_REPORTS;
    const { command, go, ledger, words } = await startHeld({ options: 'leaseMs: 60_000,', handlers });
    command.kill('SIGINT');
    await command.line(/^posthorn: SIGINT/);
    command.kill('SIGINT');
    await command.line(
      /^posthorn: events that were not finished: 1\. .* \(leaseMs\); then the same command runs them/,
    );
    expect(await command.exit).toBe(130);
    go();
    const again = startPosthornProcess(words);
    await again.line(/^2 would run, 1 done by this run, 1 running elsewhere$/);
    await again.line(/^busy evt_held$/);
    expect(ledger()).toEqual(['fix evt_1', 'fix evt_held']);
    sqlite.open().exec('update posthorn_events set lease_ends_at = 0 where lease_ends_at is not null');
    expect(await again.exit).toBe(0);
    expect(again.lines).toContain('3 processed, 1 done before');
    expect(ledger().slice(2)).toEqual(['fix evt_held', 'fix evt_3', 'fix evt_4']);
  });
});

/**
 * Names the events whose handler has ended, in the file `ended`. Those with `after` in their id wait then
 * until there is a file `go`: an inbox has committed, and the store does not know it.
 */
const HOLD_AFTER = `.use(async ({ id }, context, next) => {
    await next();
    appendFileSync(at('ended'), id + '\\n');
    while (id.includes('after') && !existsSync(at('go'))) await setTimeout(10);
  })`;
const IMPORTS = `
  import { appendFileSync, existsSync } from 'node:fs';
  import { setTimeout } from 'node:timers/promises';`;

/** A command on 300 events, 4 at a time, that is killed when the handlers of those that are held run. */
async function killInTheMiddle(code: string, heldIds: readonly string[]) {
  const { file: receiver } = await writeModule(IMPORTS + code);
  const words = ['events', 'rerun', '--handler', 'book', '--run', 'fix-1127', '--all', '--yes'];
  const all = [...words, '--receiver', receiver, '--concurrency', '4'];
  const command = startPosthornProcess(all);
  const at = (name: string): string => join(receiver, '..', name);
  const namesIn = (name: string): string => (existsSync(at(name)) ? readFileSync(at(name), 'utf8') : '');
  await until('the events are held', () =>
    heldIds.every((id) => namesIn(id.includes('after') ? 'ended' : 'begun').includes(`${id}\n`)),
  );
  command.kill('SIGKILL');
  expect(await command.exit).toBe(null);
  writeFileSync(at('go'), '');
  return { words: all };
}

const idsWith = (held: readonly string[]): string[] =>
  Array.from({ length: 300 }, (_, index) => held[index - 150] ?? `evt_${index}`);

describe('posthorn events rerun that is killed in the middle of 300 events: the same command runs each once', () => {
  test('with an inbox on PostgreSQL', async () => {
    const held = ['evt_after_0', 'evt_after_1', 'evt_inside_2', 'evt_inside_3'];
    const ids = idsWith(held);
    const pool = database.connect();
    await pool.query('create table booked (event_id text, run text)');
    const journal = createPostgresJournal(pool, { scope: 'rerunning', ...ampleJournal });
    await fillJournal(journal, handledEvents(ids));
    // Two are killed inside the transaction of the inbox, and two after its commit.
    const code = `
      import pg from 'pg';
      import { createReceiver } from 'posthorn';
      import { createPostgresInbox, createPostgresJournal, createPostgresStore } from 'posthorn/postgres';
      const at = (name) => new URL(name, import.meta.url).pathname;
      const pool = new pg.Pool({ connectionString: '${database.url()}' });
      const [scope, signingKey] = ['rerunning', 'k'];
      const store = createPostgresStore(pool, { scope });
      const journal = createPostgresJournal(pool, { scope });
      export const receiver = createReceiver({ signingKey, store, journal, ${SHORT_LEASES} });
      receiver.observe(() => {});
      receiver${HOLD_AFTER}.on('*', createPostgresInbox(pool, { scope }).once('book',
        async ({ id }, { rerun, transaction }) => {
          await transaction.query('insert into booked values ($1, $2)', [id, rerun.run]);
          appendFileSync(at('begun'), id + '\\n');
          while (id.includes('inside') && !existsSync(at('go'))) await setTimeout(10);
        }));`;
    const { words } = await killInTheMiddle(code, held);
    const rows = async (): Promise<unknown[]> =>
      (await pool.query('select event_id, run from booked order by event_id')).rows;
    expect(await rows()).toHaveLength(152);

    const again = await posthornProcess([...words, '--json']);
    expect(again).toMatchObject({ code: 0, stderr: '' });
    expect(jsonLines(again).at(-1)).toMatchObject({ processed: 148, done: 152, failed: 0, left: 0 });
    expect(await rows()).toEqual(ids.toSorted().map((event_id) => ({ event_id, run: 'fix-1127' })));
    const last = await posthornProcess([...words, '--json']);
    expect(jsonLines(last)).toEqual([expect.objectContaining({ wouldRun: 0, done: 300, running: 0 })]);
  });

  test('with an inbox on SQLite', async () => {
    const held = ['evt_after_0', 'evt_after_1', 'evt_after_2', 'evt_after_3'];
    const ids = idsWith(held);
    const connection = await sqlite.openMigrated();
    connection.exec('create table booked (event_id text, run text)');
    const journal = createSqliteJournal(connection, { scope: 'rerunning', ...ampleJournal });
    await fillJournal(journal, handledEvents(ids));
    const handlers = `${HOLD_AFTER}.on('*', createSqliteInbox(database, { scope: 'rerunning' }).once('book',
      ({ id }, { database, rerun }) => {
        database.prepare('insert into booked values (?, ?)').run(id, rerun.run);
      }))`;
    const { words } = await killInTheMiddle(
      rerunModule(sqlite.path, { options: SHORT_LEASES, handlers }),
      held,
    );
    const rows = (): unknown[] =>
      connection.prepare('select event_id, run from booked order by event_id').all();
    expect(rows()).toHaveLength(154);

    const again = await posthornProcess([...words, '--json']);
    expect(again).toMatchObject({ code: 0, stderr: '' });
    expect(jsonLines(again).at(-1)).toMatchObject({ processed: 146, done: 154, failed: 0, left: 0 });
    expect(rows()).toEqual(ids.toSorted().map((event_id) => ({ event_id, run: 'fix-1127' })));
  });
});
