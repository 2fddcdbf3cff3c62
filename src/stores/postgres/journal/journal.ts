import type { Journal } from '../../../receiver/journal/journal.ts';
import { type JournalOptions, readJournalOptions } from '../../kit/journal/journal-options.ts';
import { createServerJournal } from '../../kit/journal/server-journal.ts';
import { checkPool, type PostgresPool, readSchema } from '../client.ts';
import { PostgresJournalOperations } from './operations.ts';

/** Options of {@link createPostgresJournal}. */
export interface PostgresJournalOptions extends JournalOptions {
  /** The schema of the tables; `posthorn` by default. */
  readonly schema?: string | undefined;
}

/**
 * Keeps a record of the events in PostgreSQL, for people: an entry for each authentic event that a receiver
 * got, with its outcome and its body. Receivers write it after their answers, up to a hundred events in one
 * statement, and go on without it. Writing takes one client of the pool at a time. `migratePostgres` creates
 * the table. Entries are deleted after `retentionMs`, a thousand at a time. Its methods reject with
 * JournalError.
 *
 * @throws ConfigurationError if the pool is not one of pg, and for a wrong or missing option.
 *
 * @example
 * ```ts
 * import { createReceiver } from 'posthorn';
 * import { createPostgresJournal } from 'posthorn/postgres';
 *
 * const journal = createPostgresJournal(pool, { scope: 'billing-production' });
 * const receiver = createReceiver({ signingKey, journal });
 * console.log((await journal.get('evt_123'))?.outcome);
 * ```
 */
export function createPostgresJournal(pool: PostgresPool, options: PostgresJournalOptions): Journal {
  checkPool('createPostgresJournal', pool);
  const { bodies, ...settings } = readJournalOptions('createPostgresJournal', options, ['schema']);
  const schema = readSchema('createPostgresJournal', options.schema);
  const operations = new PostgresJournalOperations(pool, { ...settings, schema });
  return createServerJournal('PostgreSQL', settings.scope, bodies, operations);
}
