import { JournalError } from '../../../receiver/errors.ts';
import type { Journal, JournalSelection } from '../../../receiver/journal/journal.ts';
import { messageOf } from '../../../receiver/values/foreign-values.ts';
import { readAge } from '../prune-options.ts';
import { EntryReader } from './entry-reader.ts';
import type { JournalOperations } from './journal-operations.ts';
import { readSelection } from './selection.ts';

/** Creates the {@link Journal} of a scope on a server. Its methods reject with {@link JournalError}. */
export function createServerJournal(
  server: string,
  scope: string,
  bodies: boolean,
  operations: JournalOperations,
): Journal {
  const asked = explained(`the journal of ${scope} in ${server}`, operations);
  const reader = new EntryReader(asked);
  return {
    bodies,
    record: async (batch) => {
      await asked.record(batch);
      operations.cleaning.cleanIfDue();
    },
    get: (id) => reader.get(id),
    list: (selection: JournalSelection = {}) => reader.list(readSelection(selection)),
    prune: async (options) => {
      const olderThanMs = readAge(options);
      for (let deleted = 0; ; ) {
        const batch = await asked.deleteOld(olderThanMs);
        deleted += batch;
        if (batch < operations.batchSize) return deleted;
      }
    },
  };
}

/** Wraps operations, so that they reject with {@link JournalError}. */
function explained(subject: string, operations: JournalOperations): JournalOperations {
  const ask = async <Result>(work: Promise<Result>): Promise<Result> => {
    try {
      return await work;
    } catch (cause) {
      throw new JournalError('journal_unavailable', `${subject} failed: ${messageOf(cause)}`, { cause });
    }
  };
  const { batchSize, cleaning } = operations;
  return {
    batchSize,
    cleaning,
    record: (batch) => ask(operations.record(batch)),
    find: (key, id) => ask(operations.find(key, id)),
    read: (keys, bodies) => ask(operations.read(keys, bodies)),
    lookAt: (selection, after) => ask(operations.lookAt(selection, after)),
    deleteOld: (olderThanMs) => ask(operations.deleteOld(olderThanMs)),
  };
}
