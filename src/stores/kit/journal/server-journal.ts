import { toKey } from '../../../receiver/dedupe/store.ts';
import { JournalError } from '../../../receiver/errors.ts';
import type {
  Journal,
  JournalBatch,
  JournalEntry,
  JournalSelection,
} from '../../../receiver/journal/journal.ts';
import { keyOfRecord } from '../../../receiver/journal/record.ts';
import { messageOf } from '../../../receiver/values/foreign-values.ts';
import type { Cleaning } from '../cleaning.ts';
import { readAge } from '../prune-options.ts';
import { type CheckedSelection, readSelection } from './selection.ts';
import { storableText, toEntry } from './stored-record.ts';

/** The place of an entry in the order of a journal. `key` is `toKey` of the event's key. */
export interface Place {
  readonly firstReceivedAt: number;
  readonly key: string;
}

/** An entry that a list has looked at. */
export interface LookedAt extends Place {
  /** True if its type and its outcome are those that were asked for. */
  readonly matches: boolean;
}

/** An entry as it is stored. */
export interface StoredEntry {
  readonly key: string;
  /** The row as JSON, without its body. */
  readonly json: string;
  readonly rawBody: Uint8Array | undefined;
}

/** The operations on the journal of one scope. */
export interface JournalOperations {
  /** Merges records into the entries of their events, in one transaction. */
  record(batch: JournalBatch): Promise<void>;
  /** Resolves with two entries at most: that with this key, and those with this id of another sender. */
  find(key: string, id: string): Promise<readonly StoredEntry[]>;
  /** Resolves with those of the keys that are there, in any order. */
  read(keys: readonly string[]): Promise<readonly StoredEntry[]>;
  /**
   * Looks at the next {@link MOST_LOOKED_AT} entries of the selection after a place, in order. Without their
   * bodies that takes some milliseconds, however few of them match.
   */
  lookAt(selection: CheckedSelection, after: Place): Promise<readonly LookedAt[]>;
  /** Deletes a batch of the oldest entries, if they are as old as that. Resolves with their number. */
  deleteOld(olderThanMs: number): Promise<number>;
  /** The most entries that `deleteOld` deletes. */
  readonly batchSize: number;
  /** Deletes in the background what is too old for the journal. */
  readonly cleaning: Cleaning;
}

export const MOST_LOOKED_AT = 1_000;

/** The entries that are read together, because each can have a body of megabytes. */
const MOST_READ = 20;

/** Creates the {@link Journal} of a scope on a server. Its methods reject with {@link JournalError}. */
export function createServerJournal(
  server: string,
  scope: string,
  bodies: boolean,
  operations: JournalOperations,
): Journal {
  const ask = async <Result>(work: Promise<Result>): Promise<Result> => {
    try {
      return await work;
    } catch (cause) {
      const message = `the journal of ${scope} in ${server} failed: ${messageOf(cause)}`;
      throw new JournalError('journal_unavailable', message, { cause });
    }
  };

  const find = async (id: string): Promise<StoredEntry | undefined> => {
    const key = toKey(id);
    const found = await ask(operations.find(key, storableText(id)));
    const [first, second] = found;
    const exact = found.find((stored) => stored.key === key);
    if (exact !== undefined || second === undefined) return exact ?? first;
    const keys = found.map((stored) => JSON.stringify(keyOfRecord(entryOf(stored))));
    throw new JournalError(
      'journal_id_ambiguous',
      `several senders gave the id ${JSON.stringify(id)}: give the key of the entry, such as ${keys.join(' or ')}`,
    );
  };

  const startOf = async ({ after, since }: CheckedSelection): Promise<Place> => {
    const start = { firstReceivedAt: since, key: '' };
    if (after === undefined) return start;
    const stored = await find(after);
    if (stored === undefined)
      throw new JournalError(
        'journal_entry_missing',
        `after: the journal has no entry ${JSON.stringify(after)}; leave it out, and give since`,
      );
    const { firstReceivedAt } = entryOf(stored);
    return firstReceivedAt < since ? start : { firstReceivedAt, key: stored.key };
  };

  async function* list(selection: CheckedSelection): AsyncGenerator<JournalEntry, void, undefined> {
    let left = selection.limit;
    let last = await startOf(selection);
    for (;;) {
      const looked = await ask(operations.lookAt(selection, last));
      const keys = looked.filter(({ matches }) => matches).map(({ key }) => key);
      while (keys.length > 0) {
        const portion = keys.splice(0, Math.min(MOST_READ, left));
        for (const stored of inOrder(portion, await ask(operations.read(portion)))) {
          yield entryOf(stored);
          left -= 1;
          if (left === 0) return;
        }
      }
      const end = looked.at(-1);
      if (end === undefined || looked.length < MOST_LOOKED_AT) return;
      last = end;
    }
  }

  return {
    bodies,
    record: async (batch) => {
      await ask(operations.record(batch));
      operations.cleaning.cleanIfDue();
    },
    get: async (id) => {
      const stored = await find(id);
      return stored && entryOf(stored);
    },
    list: (selection: JournalSelection = {}) => list(readSelection(selection)),
    prune: async (options) => {
      const olderThanMs = readAge(options);
      for (let deleted = 0; ; ) {
        const batch = await ask(operations.deleteOld(olderThanMs));
        deleted += batch;
        if (batch < operations.batchSize) return deleted;
      }
    },
  };
}

function entryOf({ json, rawBody }: StoredEntry): JournalEntry {
  return toEntry(json, rawBody);
}

function inOrder(keys: readonly string[], found: readonly StoredEntry[]): StoredEntry[] {
  const byKey = new Map(found.map((stored) => [stored.key, stored]));
  return keys.flatMap((key) => byKey.get(key) ?? []);
}
