import type { JournalEntry } from '../../receiver/journal/journal.ts';
import { keyOfRecord } from '../../receiver/journal/record.ts';
import { CommandError } from '../failure.ts';
import { EntrySelection } from './journal-selection.ts';
import type { JournalSource } from './journal-source.ts';
import type { EntryFilter } from './rerun-options.ts';

/** Entries of a journal that a command reads twice, the oldest first. */
export interface ChosenEntries {
  /** Reads them, with their bodies, as they are asked for. */
  readonly read: () => AsyncIterable<JournalEntry>;
  /** The time before which the selection ends. Undefined for ids. */
  readonly until?: number;
}

/** The ids that an error names. */
const MOST_NAMED = 10;

/** Chooses the entries of ids, or of a selection if there are none. Rejects for an unknown id. */
export async function chooseEntries(
  ids: readonly string[],
  { type, outcome, resource, since, until = Number.POSITIVE_INFINITY }: EntryFilter,
  source: JournalSource,
): Promise<ChosenEntries> {
  if (ids.length > 0) {
    const keys = await keysOf(ids, source);
    return { read: () => entriesOf(keys, source) };
  }
  // Events that come meanwhile were not shown to the user, and the mended handler handles them.
  const end = Math.min(until, Date.now());
  const selection = { type, outcome, resource, since, until: end };
  return { read: () => new EntrySelection(source, selection).entries(), until: end };
}

/** The keys of the events, in the order in which they came. */
async function keysOf(ids: readonly string[], { journal }: JournalSource): Promise<readonly string[]> {
  const times = new Map<string, number>();
  const unknown: string[] = [];
  for (const id of ids) {
    const entry = await journal.get(id);
    if (entry === undefined) unknown.push(id);
    else times.set(keyOfRecord(entry), entry.firstReceivedAt);
  }
  if (unknown.length > 0) {
    const named = unknown.slice(0, MOST_NAMED).map((id) => JSON.stringify(id));
    const more = unknown.length - named.length;
    const others = more > 0 ? `, and ${more} more` : '';
    throw new CommandError(
      'failed',
      `the journal has no event with the id ${named.join(', ')}${others}: nothing was run`,
    );
  }
  return [...times].sort(([, one], [, other]) => one - other).map(([key]) => key);
}

async function* entriesOf(
  keys: readonly string[],
  { journal }: JournalSource,
): AsyncGenerator<JournalEntry, void, undefined> {
  for (const key of keys) {
    const entry = await journal.get(key);
    // The entry may have been pruned meanwhile.
    if (entry !== undefined) yield entry;
  }
}
