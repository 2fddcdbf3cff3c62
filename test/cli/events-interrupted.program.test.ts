import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { useSqlite } from '../stores/sqlite/fixture.ts';
import { bookings, createLedger, recordsOf } from '../stores/sqlite/ledger.ts';
import { until } from '../support/until.ts';
import { eventOf, moduleOf, storeIn, writeEvents } from './accepting.ts';
import { jsonLines, posthornProcess, startPosthornProcess } from './posthorn.ts';
import { writeModule } from './receiver-module.ts';

const sqlite = useSqlite();

/** A handler that names each event in a file, and waits for some of them until there is a file `go`. */
const HOLDING = `.on('*', async ({ id }) => {
    const { appendFileSync, existsSync } = await import('node:fs');
    const { setTimeout } = await import('node:timers/promises');
    const at = (name) => new URL(name, import.meta.url).pathname;
    appendFileSync(at('begun'), id + '\\n');
    while (id.includes('held') && !existsSync(at('go'))) await setTimeout(10);
  }, { name: 'hold' })`;

/** A receiver whose leases end soon, so that a command that was killed leaves its events soon. */
const SHORT_LEASES = 'leaseMs: 1_000,';

async function start(events: readonly object[], handlers: string, args: readonly string[] = []) {
  const { file: receiver } = await writeModule(
    moduleOf({ store: storeIn(sqlite.path), options: SHORT_LEASES, handlers }),
  );
  const at = (name: string): string => join(receiver, '..', name);
  const begun = (): readonly string[] =>
    existsSync(at('begun')) ? readFileSync(at('begun'), 'utf8').trim().split('\n') : [];
  const words = ['events', 'accept', writeEvents(events), '--receiver', receiver, '--yes', ...args];
  return {
    words,
    receiver,
    command: startPosthornProcess(words),
    go: () => writeFileSync(at('go'), ''),
    isHeld: (id: string) => until(`the handler of ${id} runs`, () => begun().includes(id)),
  };
}

const few = ['evt_1', 'evt_held', 'evt_3', 'evt_4'].map((id) => eventOf(id));

describe('posthorn events accept that is interrupted', () => {
  test.each([
    { signal: 'SIGINT', code: 130 },
    { signal: 'SIGTERM', code: 143 },
  ] as const)('by $signal finishes the current event, and says what is left', async ({ signal, code }) => {
    await sqlite.openMigrated();
    const { command, words, go, isHeld } = await start(few, HOLDING);
    await isHeld('evt_held');
    command.kill(signal);
    await command.line(new RegExp(`^posthorn: ${signal}: the current events are finished first\\.`));
    go();
    expect(await command.exit).toBe(code);
    const [, , file, , receiver] = words;
    expect(command.lines.slice(-2)).toEqual([
      '2 processed, 2 left',
      `the rest: posthorn events accept ${file} --receiver ${receiver} --yes`,
    ]);
    const again = await posthornProcess(words);
    expect(again).toMatchObject({ code: 0, stdout: expect.stringMatching(/\n2 processed, 2 known\n$/) });
  });

  test('by a second signal ends at once, and the same command goes on', async () => {
    await sqlite.openMigrated();
    const { command, words, go, isHeld } = await start(few, HOLDING);
    await isHeld('evt_held');
    command.kill('SIGINT');
    await command.line(/^posthorn: SIGINT/);
    command.kill('SIGINT');
    await command.line(
      /^posthorn: events that were not finished: 1\. They count as running until their lease ends/,
    );
    expect(await command.exit).toBe(130);
    go();
    const again = await posthornProcess(words);
    expect(again).toMatchObject({ code: 0, stdout: expect.stringMatching(/\n3 processed, 1 known\n$/) });
  });

  test('by SIGKILL in the middle of 300 events: the same command handles each, and an inbox each once', async () => {
    const database = await sqlite.openMigrated();
    createLedger(database);
    const ids = Array.from({ length: 300 }, (_, index) =>
      index >= 150 && index < 154 ? `evt_held_${index}` : `evt_${index}`,
    );
    // The inbox has committed when the command is killed, and the store has not: the events are running.
    const book = `.on('*', createSqliteInbox(database, { scope: 'accepting' }).once('book', ({ id }, { database }) => {
        database.prepare('insert into ledger (event_id, amount) values (?, ?)').run(id, 5);
      }))`;
    const inbox = "const { createSqliteInbox } = await import('posthorn/sqlite');";
    const connection = `const database = new Database('${sqlite.path}', { timeout: 5_000 });`;
    const handlers = `;${inbox} ${connection} receiver${book}${HOLDING}`;
    const events = ids.map((id) => eventOf(id));
    const { command, words, go, isHeld } = await start(events, handlers, ['--concurrency', '4']);
    for (const index of [150, 151, 152, 153]) await isHeld(`evt_held_${index}`);
    await until('the inbox has committed', () => bookings(database, { id: 'evt_held_153' }) === 1);
    command.kill('SIGKILL');
    expect(await command.exit).toBe(null);
    expect(bookings(database, { id: 'evt_154' })).toBe(0);
    go();

    const again = await posthornProcess([...words, '--json']);
    expect(again).toMatchObject({ code: 0, stderr: '' });
    expect(jsonLines(again).at(-1)).toMatchObject({ processed: 150, known: 150, failed: 0, left: 0 });
    expect(ids.map((id) => bookings(database, { id }))).toEqual(ids.map(() => 1));
    expect(ids.map((id) => recordsOf(database, { id }))).toEqual(ids.map(() => ['book']));

    const last = await posthornProcess([...words, '--dry-run', '--json']);
    expect(jsonLines(last).at(-1)).toMatchObject({ wouldRun: 0, known: 300, running: 0 });
  });

  test('by SIGKILL at its last event: the same command waits for the lease, and handles it', async () => {
    await sqlite.openMigrated();
    const { command, words, go, isHeld } = await start([eventOf('evt_held')], HOLDING);
    await isHeld('evt_held');
    command.kill('SIGKILL');
    expect(await command.exit).toBe(null);
    go();
    const again = await posthornProcess(words);
    expect(again).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/\n1 processed\n$/),
    });
  });
});
