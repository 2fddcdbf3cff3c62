import type { JournalBatch } from '../../../receiver/journal/journal.ts';
import type { Cleaning } from '../cleaning.ts';
import type { CheckedSelection } from './selection.ts';

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
  /** Resolves with the entry of this key, and with up to two of this id of other senders. */
  find(key: string, id: string): Promise<readonly StoredEntry[]>;
  /**
   * Resolves with those of the keys that are there, in any order. Without `bodies` they have neither bodies
   * nor headers.
   */
  read(keys: readonly string[], bodies: boolean): Promise<readonly StoredEntry[]>;
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
