import type { JournalEntry, JournalSelection } from '../../receiver/journal/journal.ts';

/** Selects entries of the journal. Several members select those that fit all of them; none selects all. */
export type EntryFilter = Pick<JournalSelection, 'type' | 'outcome' | 'resource' | 'since' | 'until'>;

/** An entry without its body and its headers. */
export type EntrySummary = Omit<JournalEntry, 'rawBody' | 'headers'>;

/** Leaves out the body and the headers, and what a journal may have besides. */
export function summaryOfEntry(entry: EntrySummary): EntrySummary {
  const { id, key, type, provider, account, createdAt, firstReceivedAt, lastReceivedAt } = entry;
  const { deliveries, attempts, outcome, code, handled, resource } = entry;
  const event = { id, key, type, provider, account, createdAt };
  const times = { firstReceivedAt, lastReceivedAt };
  return { ...event, ...times, deliveries, attempts, outcome, code, handled, resource };
}
