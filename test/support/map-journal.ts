import type { Journal, JournalEntry, JournalRecord, JournalSelection } from 'posthorn';
import { matchesPattern } from '../../src/receiver/events/pattern.ts';
import { keyOfRecord, mergeRecords } from '../../src/receiver/journal/record.ts';

/** A journal that is kept in a map, by the keys of events, where storage is not what is tested. */
export function createMapJournal(records: Map<string, JournalRecord> = new Map()): Journal {
  return {
    record: async ({ records: given }) => {
      for (const record of given) {
        const key = keyOfRecord(record);
        const earlier = records.get(key);
        records.set(key, earlier === undefined ? record : mergeRecords(earlier, record));
      }
    },
    get: async (id) => records.get(id),
    async *list({ after, bodies, limit, ...selection } = {}) {
      const all = [...records.values()].sort((one, other) => one.firstReceivedAt - other.firstReceivedAt);
      const rest = all.slice(all.findIndex((record) => keyOfRecord(record) === after) + 1);
      const selected = rest.filter((record) => isSelected(record, selection)).slice(0, limit);
      yield* bodies === false ? selected.map(withoutBody) : selected;
    },
    prune: async () => 0,
  };
}

function isSelected(
  { firstReceivedAt, outcome, resource, type = '' }: JournalEntry,
  { outcome: wanted = outcome, resource: about = resource, since = 0, ...rest }: JournalSelection,
): boolean {
  const { type: pattern = '*', until = Number.POSITIVE_INFINITY } = rest;
  const isInTime = firstReceivedAt >= since && firstReceivedAt < until;
  const isOfType = pattern === '*' || matchesPattern(pattern, type);
  return isInTime && isOfType && outcome === wanted && resource === about;
}

function withoutBody({ rawBody: _, headers: __, ...entry }: JournalEntry): JournalEntry {
  return entry;
}
