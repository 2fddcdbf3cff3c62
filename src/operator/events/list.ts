import type { Journal } from '../../receiver/journal/journal.ts';
import { keyOfRecord } from '../../receiver/journal/record.ts';
import { type EntryFilter, type EntrySummary, summaryOfEntry } from './entry-filter.ts';

/** The wanted page of a list. */
export interface EntryPageRequest extends EntryFilter {
  /** The key of the entry after which the page begins. */
  readonly after?: string | undefined;
  readonly limit: number;
}

/** A page of the journal. */
export interface EntryPage {
  readonly events: readonly EntrySummary[];
  /** The key after which the list goes on. Absent at its end. */
  readonly after?: string | undefined;
}

/** Lists entries of the journal, those first that were first received. */
export async function listEntries(
  journal: Journal,
  { limit, ...selection }: EntryPageRequest,
): Promise<EntryPage> {
  const events: EntrySummary[] = [];
  for await (const entry of journal.list({ ...selection, limit: limit + 1, bodies: false })) {
    const last = events.at(-1);
    if (events.length === limit && last !== undefined) return { events, after: keyOfRecord(last) };
    events.push(summaryOfEntry(entry));
  }
  return { events };
}
