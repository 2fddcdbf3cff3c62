import fc from 'fast-check';
import type { Journal, JournalRecord } from 'posthorn';
import { expect } from 'vitest';
import { mergeRecords } from '../../../../src/receiver/journal/record.ts';
import { entryOf, type OpenJournal, plain, START, write } from './journal-case.ts';

const IDS = ['a', 'b', 'c'] as const;

/** Few values, so that many records are equal in some of them. */
const time = fc.integer({ min: 0, max: 3 }).map((step) => START + step);
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });

const recordOf = (id: string): fc.Arbitrary<JournalRecord> =>
  fc.record({
    id: fc.constant(id),
    provider: fc.constant('acme'),
    type: maybe(fc.constantFrom('invoice.paid', 'invoice.void')),
    createdAt: maybe(fc.constantFrom(1.5, START)),
    firstReceivedAt: time,
    lastReceivedAt: time,
    deliveries: fc.integer({ min: 0, max: 3 }),
    attempts: fc.integer({ min: 0, max: 4 }),
    outcome: fc.constantFrom('processed', 'parked', 'queued', 'failed', 'ignored', 'rejected'),
    code: maybe(fc.constantFrom('handler_failed', 'busy')),
    finality: fc.integer({ min: 0, max: 4 }),
    decidedAt: time,
    handled: fc.uniqueArray(fc.constantFrom('book', 'mail', 'b', 'ä'), { maxLength: 4 }),
    resource: maybe(fc.constantFrom('r1', 'r2')),
    rawBody: maybe(fc.uint8Array({ maxLength: 3 })),
    headers: maybe(fc.constantFrom<NonNullable<JournalRecord['headers']>>({}, { 'x-a': ['1', ''] })),
  });

/** A batch has a record at most of each event, in any order. */
const batches = fc.array(
  fc.shuffledSubarray([...IDS], { minLength: 1 }).chain((ids) => fc.tuple(...ids.map(recordOf))),
  { minLength: 1, maxLength: 6 },
);

function merged(given: readonly (readonly JournalRecord[])[]): Map<string, JournalRecord> {
  const records = new Map<string, JournalRecord>();
  for (const record of given.flat()) {
    const earlier = records.get(record.id);
    records.set(record.id, earlier === undefined ? record : mergeRecords(earlier, record));
  }
  return records;
}

async function expectEntries(journal: Journal, records: ReadonlyMap<string, JournalRecord>): Promise<void> {
  for (const id of IDS) {
    const [found, record] = [await journal.get(id), records.get(id)];
    expect(found && plain(found)).toEqual(record && entryOf(record));
  }
}

/** Proves that a journal joins records as `mergeRecords` does, ties of two outcomes included. */
export async function expectLikeMergeRecords(open: OpenJournal, numRuns: number): Promise<void> {
  await fc.assert(
    fc.asyncProperty(batches, async (given) => {
      const journal = open();
      for (const records of given) await write(journal, ...records);
      await expectEntries(journal, merged(given));
    }),
    { numRuns },
  );
}
