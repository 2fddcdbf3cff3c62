import type { Journal, JournalRecord } from 'posthorn';
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
    async *list() {
      yield* [...records.values()].sort((one, other) => one.firstReceivedAt - other.firstReceivedAt);
    },
    prune: async () => 0,
  };
}
