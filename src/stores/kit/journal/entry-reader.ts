import { toKey } from '../../../receiver/dedupe/store.ts';
import { JournalError } from '../../../receiver/errors.ts';
import type { JournalEntry } from '../../../receiver/journal/journal.ts';
import { keyOfRecord } from '../../../receiver/journal/record.ts';
import { messageOf } from '../../../receiver/values/foreign-values.ts';
import {
  type JournalOperations,
  MOST_LOOKED_AT,
  type Place,
  type StoredEntry,
} from './journal-operations.ts';
import type { CheckedSelection } from './selection.ts';
import { storableText, toEntry } from './stored-record.ts';

/** The entries that are read together, because each can have a body of megabytes. */
const MOST_READ = 20;

/** The entries without bodies that are read together. SQLite blocks the event loop meanwhile. */
const MOST_READ_WITHOUT = 200;

/** Reads the entries of a journal. */
export class EntryReader {
  readonly #operations: JournalOperations;

  constructor(operations: JournalOperations) {
    this.#operations = operations;
  }

  async get(id: string): Promise<JournalEntry | undefined> {
    const stored = await this.#find(id);
    return stored && entryOf(stored);
  }

  async *list(selection: CheckedSelection): AsyncGenerator<JournalEntry, void, undefined> {
    const { bodies } = selection;
    let left = selection.limit;
    for await (const keys of this.#matchingKeys(selection)) {
      const portion = keys.slice(0, left);
      const read = await this.#operations.read(portion, bodies);
      const found = new Map(read.map((stored) => [stored.key, stored]));
      for (const stored of portion.flatMap((key) => found.get(key) ?? [])) {
        yield entryOf(stored);
        left -= 1;
      }
      if (left === 0) return;
    }
  }

  /** The keys of a selection in order, a few at a time. */
  async *#matchingKeys(selection: CheckedSelection): AsyncGenerator<readonly string[], void, undefined> {
    const most = selection.bodies ? MOST_READ : MOST_READ_WITHOUT;
    let last = await this.#startOf(selection);
    for (;;) {
      const looked = await this.#operations.lookAt(selection, last);
      const keys = looked.filter(({ matches }) => matches).map(({ key }) => key);
      for (let first = 0; first < keys.length; first += most) yield keys.slice(first, first + most);
      const end = looked.at(-1);
      if (end === undefined || looked.length < MOST_LOOKED_AT) return;
      last = end;
    }
  }

  async #startOf({ after, since }: CheckedSelection): Promise<Place> {
    const start = { firstReceivedAt: since, key: '' };
    if (after === undefined) return start;
    const stored = await this.#find(after);
    if (stored === undefined)
      throw new JournalError(
        'journal_entry_missing',
        `after: the journal has no entry ${JSON.stringify(after)}; leave it out, and give since`,
      );
    const { firstReceivedAt } = entryOf(stored);
    return firstReceivedAt < since ? start : { firstReceivedAt, key: stored.key };
  }

  async #find(id: string): Promise<StoredEntry | undefined> {
    const key = toKey(id);
    const found = await this.#operations.find(key, storableText(id));
    const [first, second] = found;
    const exact = found.find((stored) => stored.key === key);
    if (exact !== undefined || second === undefined) return exact ?? first;
    const keys = found.map((stored) => JSON.stringify(keyOfRecord(entryOf(stored))));
    throw new JournalError(
      'journal_id_ambiguous',
      `several senders gave the id ${JSON.stringify(id)}: give the key of the entry, such as ${keys.join(' or ')}`,
    );
  }
}

function entryOf({ key, json, rawBody }: StoredEntry): JournalEntry {
  try {
    return toEntry(json, rawBody);
  } catch (cause) {
    const message = `the entry ${JSON.stringify(key)} has a form that this version does not know: ${messageOf(cause)}; update posthorn`;
    throw new JournalError('journal_unavailable', message, { cause });
  }
}
