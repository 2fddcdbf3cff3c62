import { randomUUID } from 'node:crypto';
import type { Journal, JournalEntry, JournalRecord, JournalSelection } from 'posthorn';
import { ampleTime } from '../../../support/limits.ts';
import { readAll } from '../../../support/read-all.ts';

/** Opens the journal of a scope; without one, of a scope that no other test has. */
export type OpenJournal = (options?: { readonly scope?: string; readonly bodies?: boolean }) => Journal;

/** A promise of every journal. */
export interface JournalCase {
  readonly name: string;
  readonly check: (open: OpenJournal) => Promise<void>;
}

/** For the options of every journal whose entries must stay: those of tests are old. */
export const ampleJournal = { ...ampleTime, retentionMs: Number.MAX_SAFE_INTEGER } as const;

/** The time of records unless told otherwise: 1 March 2025. */
export const START = 1_740_830_400_000;

/** A record without the members that may be absent. */
export function createRecord(members: Partial<JournalRecord> = {}): JournalRecord {
  return {
    id: `evt_${randomUUID()}`,
    provider: 'acme',
    firstReceivedAt: START,
    lastReceivedAt: START,
    deliveries: 1,
    attempts: 1,
    outcome: 'processed',
    finality: 4,
    decidedAt: START + 5,
    handled: [],
    ...members,
  };
}

/** A record with every member. */
export function createFullRecord(members: Partial<JournalRecord> = {}): JournalRecord {
  const id = `evt_${randomUUID()}`;
  return createRecord({
    id,
    key: `acme:shop:${id}`,
    type: 'invoice.line.paid',
    account: 'shop',
    createdAt: START - 1_000.25,
    lastReceivedAt: START + 60_000,
    deliveries: 3,
    attempts: 2,
    outcome: 'parked',
    code: 'handler_failed',
    finality: 3,
    handled: ['book', 'mail "x", {y}', 'Ä', ''],
    resource: 'inv_1',
    rawBody: Buffer.from('{"id":"evt_1"}'),
    headers: { 'content-type': ['application/json'], 'x-trace': ['one', 'two'], 'x-é': [''] },
    ...members,
  });
}

/** Writes records as a batch. */
export async function write(journal: Journal, ...records: JournalRecord[]): Promise<void> {
  await journal.record({ batchId: randomUUID(), records });
}

/** Writes any number of records, a hundred at a time. */
export async function writeAll(journal: Journal, records: readonly JournalRecord[]): Promise<void> {
  for (let start = 0; start < records.length; start += 100)
    await write(journal, ...records.slice(start, start + 100));
}

/** The entry that readers get of a record, in a form that can be compared. */
export function entryOf({ finality, decidedAt, ...entry }: JournalRecord): object {
  return plain(entry);
}

/** An entry with its members in any order, the absent ones gone, and its body in hexadecimal digits. */
export function plain({ rawBody, ...entry }: JournalEntry): object {
  const body = rawBody && Buffer.from(rawBody).toString('hex');
  return JSON.parse(JSON.stringify({ ...entry, rawBody: body }));
}

/** The entry of an id or a key, in a form that can be compared. */
export async function read(journal: Journal, id: string): Promise<object | undefined> {
  const entry = await journal.get(id);
  return entry && plain(entry);
}

/** The ids of a list. */
export async function idsOf(journal: Journal, selection?: JournalSelection): Promise<readonly string[]> {
  return (await readAll(journal.list(selection))).map(({ id }) => id);
}
