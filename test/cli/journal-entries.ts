import { randomUUID } from 'node:crypto';
import type { Journal, JournalRecord } from 'posthorn';
import { createPostgresJournal } from 'posthorn/postgres';
import { ampleJournal } from '../stores/kit/journal/journal-case.ts';
import type { DatabaseFixture } from '../stores/postgres/fixture.ts';
import { readAll } from '../support/read-all.ts';
import { type Ended, posthorn } from './posthorn.ts';

/** When the first of {@link recordsOf} was received. */
export const FIRST_AT: number = Date.parse('2026-03-31T09:00:30.000Z');

/** A record of an event that was handled at its first delivery. */
export function record(id: string, changes: Partial<JournalRecord> = {}): JournalRecord {
  const { firstReceivedAt = FIRST_AT, type = 'transfer.succeeded' } = changes;
  return {
    id,
    type,
    provider: 'banking-service',
    firstReceivedAt,
    lastReceivedAt: firstReceivedAt,
    deliveries: 1,
    attempts: 1,
    outcome: 'processed',
    finality: 4,
    decidedAt: firstReceivedAt,
    handled: ['book'],
    rawBody: Buffer.from(JSON.stringify({ id, type })),
    headers: { 'content-type': ['application/json'] },
    ...changes,
  };
}

/** Records of events that were received a minute apart. */
export function recordsOf(ids: readonly string[]): JournalRecord[] {
  return ids.map((id, index) => record(id, { firstReceivedAt: FIRST_AT + index * 60_000 }));
}

/** The members of a parked event. */
export const PARKED = { outcome: 'parked', code: 'handler_failed', finality: 3, handled: [] } as const;

/** Writes records into a journal, in batches of the largest size. */
export async function fillJournal(journal: Journal, records: readonly JournalRecord[]): Promise<void> {
  for (let start = 0; start < records.length; start += 100)
    await journal.record({ batchId: randomUUID(), records: records.slice(start, start + 100) });
}

/** Events of two senders that gave the same id. */
export const STRIPE_KEY = 'handled:from:6:stripe:-:evt_1';
export const ACME_KEY = 'handled:from:4:acme:-:evt_1';
export const ofStripe: JournalRecord = record('evt_1', {
  key: STRIPE_KEY,
  provider: 'stripe',
  type: 'invoice.paid',
});
export const ofAcme: JournalRecord = record('evt_1', {
  key: ACME_KEY,
  provider: 'acme',
  account: 'north',
  type: 'push',
});

let scopes = 0;

/** A scope of its own with these records, in PostgreSQL, and a way to run commands on it. */
export async function openJournal(database: DatabaseFixture, records: readonly JournalRecord[]) {
  scopes += 1;
  const scope = `billing-${scopes}`;
  const journal = createPostgresJournal(database.connect({ max: 2 }), { scope, ...ampleJournal });
  await fillJournal(journal, records);
  const run = (command: string): Promise<Ended> =>
    posthorn(`events ${command} --scope ${scope}`, { env: { POSTGRES_URL: database.url() } });
  const ids = async () => (await readAll(journal.list())).map(({ id }) => id);
  return { scope, run, ids };
}
