import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { JournalRecord } from 'posthorn';
import { createSqliteJournal } from 'posthorn/sqlite';
import { ampleJournal } from '../stores/kit/journal/journal-case.ts';
import { driverPath } from '../stores/sqlite/driver.ts';
import type { SqliteFixture } from '../stores/sqlite/fixture.ts';
import { FIRST_AT, fillJournal, record } from './journal-entries.ts';
import { type Ended, posthorn } from './posthorn.ts';
import { writeModule } from './receiver-module.ts';

/** A record of an event that `book` has finished, with a body that the receiver can read. */
export function handledEvent(id: string, changes: Partial<JournalRecord> = {}): JournalRecord {
  const { type = 'transfer.succeeded' } = changes;
  const body = { id, type, created_at: '2026-03-31T09:00:00Z', data: { id: 'TR1', amount: 5 } };
  return record(id, { rawBody: Buffer.from(JSON.stringify(body)), ...changes });
}

/** Such records of events that came one after the other. */
export function handledEvents(ids: readonly string[]): JournalRecord[] {
  return ids.map((id, index) => handledEvent(id, { firstReceivedAt: FIRST_AT + index }));
}

/** An event of a type that `book` does not take. */
export const OTHER_TYPE: Partial<JournalRecord> = { type: 'dispute.won', handled: [] };

/** The parts of a module that exports a receiver with a journal. */
export interface RerunModule {
  /** The code of the store, by default in the file. */
  readonly store?: string;
  /** The code of the journal, by default in the file. */
  readonly journal?: string;
  /** Further options of the receiver, as code. */
  readonly options?: string;
  /** The code of the handlers, after `receiver`. */
  readonly handlers?: string;
}

/**
 * Names each event, and the run, in the file `ledger`. Fails for ids with `bad` until there is a file `go`,
 * for which ids with `held` wait.
 */
export const BOOKING = `.on('transfer.*', async ({ id }, { rerun }) => {
    const { appendFileSync, existsSync } = await import('node:fs');
    const { setTimeout } = await import('node:timers/promises');
    appendFileSync(at('ledger'), rerun.run + ' ' + id + '\\n');
    while (id.includes('held') && !existsSync(at('go'))) await setTimeout(10);
    if (id.includes('bad') && !existsSync(at('go'))) throw new Error('no');
  }, { name: 'book' })`;

/** Follows the code of the handlers, and prints the outcome and the event of each report on stderr. */
export const PRINTING_REPORTS = `;
    receiver.observe(({ outcome, event }) => console.error(outcome, event.id))`;

/** Code of a module whose receiver has its store and its journal in a file of SQLite. */
export function rerunModule(path: string, parts: RerunModule = {}): string {
  const {
    store = "createSqliteStore(database, { scope: 'rerunning' })",
    journal = "createSqliteJournal(database, { scope: 'rerunning' })",
    options = '',
    handlers = BOOKING,
  } = parts;
  return `
    import { createMemoryStore, createReceiver } from 'posthorn';
    import { createSqliteInbox, createSqliteJournal, createSqliteStore } from 'posthorn/sqlite';
    import Database from '${driverPath}';
    const at = (name) => new URL(name, import.meta.url).pathname;
    const database = new Database('${path}', { timeout: 5_000 });
    const journal = ${journal};
    export const receiver = createReceiver({ signingKey: 'k', store: ${store}, journal, ${options} });
    receiver.observe(() => {});
    receiver${handlers};`;
}

/** A receiver whose journal has these records, and commands on it. */
export async function openRerun(
  sqlite: SqliteFixture,
  records: readonly JournalRecord[],
  parts: RerunModule = {},
) {
  const database = await sqlite.openMigrated();
  const journal = createSqliteJournal(database, { scope: 'rerunning', ...ampleJournal });
  await fillJournal(journal, records);
  const { file: receiver } = await writeModule(rerunModule(sqlite.path, parts));
  const at = (name: string): string => join(receiver, '..', name);
  const words = (...args: string[]): string[] => [
    ...['events', 'rerun', '--handler', 'book', '--run', 'fix', '--receiver', receiver],
    ...args,
  ];
  return {
    at,
    receiver,
    words,
    rerun: (...args: string[]): Promise<Ended> => posthorn(words(...args)),
    /** The lines that `book` has written. */
    ledger: (): readonly string[] =>
      existsSync(at('ledger')) ? readFileSync(at('ledger'), 'utf8').trim().split('\n') : [],
  };
}
