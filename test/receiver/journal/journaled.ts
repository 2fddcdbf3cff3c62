import type { Journal, JournalBatch, JournalRecord, Receiver } from 'posthorn';
import { createMapJournal } from '../../support/map-journal.ts';
import { type EndpointOptions, openDirectly, openEndpoint } from '../../support/open-endpoint.ts';
import { Seen } from '../../support/seen.ts';

/** A journal in a map that tells what was written. */
export interface SeenJournal {
  readonly journal: Journal;
  readonly records: Map<string, JournalRecord>;
  readonly batches: Seen<JournalBatch>;
}

/** Creates a journal that runs `before` each write, which may fail it. */
export function createSeenJournal(before: (batch: JournalBatch) => unknown = () => {}): SeenJournal {
  const records = new Map<string, JournalRecord>();
  const batches = new Seen<JournalBatch>();
  const map = createMapJournal(records);
  const record: Journal['record'] = async (batch) => {
    await before(batch);
    await map.record(batch);
    batches.add(batch);
  };
  return { journal: { ...map, record }, records, batches };
}

/**
 * Opens an endpoint with a journal. `entries` closes the receiver, so that all is written, and has the
 * entries.
 */
export async function openJournaled(options: EndpointOptions = {}, register?: (receiver: Receiver) => void) {
  const seen = createSeenJournal();
  const endpoint = await openEndpoint({ journal: seen.journal, ...options }, register);
  return { ...endpoint, ...seen, ...readers(endpoint.receiver, seen) };
}

/** Opens such a receiver without a socket. */
export function openJournaledDirectly(
  options: EndpointOptions = {},
  register?: (receiver: Receiver) => void,
) {
  const seen = createSeenJournal();
  const endpoint = openDirectly({ journal: seen.journal, ...options }, register);
  return { ...endpoint, ...seen, ...readers(endpoint.receiver, seen) };
}

function readers(receiver: Receiver, { records }: SeenJournal) {
  const entries = async (): Promise<JournalRecord[]> => {
    await receiver.close();
    return [...records.values()];
  };
  /** Fails unless there is one entry. */
  const onlyEntry = async (): Promise<JournalRecord> => {
    const [entry, ...others] = await entries();
    if (entry === undefined || others.length > 0) throw new Error(`${records.size} entries instead of one`);
    return entry;
  };
  return { entries, onlyEntry };
}
