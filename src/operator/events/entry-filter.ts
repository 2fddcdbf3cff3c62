import type { JournalEntry, JournalSelection } from '../../receiver/journal/journal.ts';

/** Selects entries of the journal. Several members select those that fit all of them; none selects all. */
export type EntryFilter = Pick<JournalSelection, 'type' | 'outcome' | 'resource' | 'since' | 'until'>;

/** An entry without its body and its headers. */
export type EntrySummary = Omit<JournalEntry, 'rawBody' | 'headers'>;

/** Leaves out the body and the headers. */
export function summaryOfEntry({ rawBody: _, headers: __, ...summary }: JournalEntry): EntrySummary {
  return summary;
}
