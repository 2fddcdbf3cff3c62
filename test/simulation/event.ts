import type { JournalEntry } from '../../src/receiver/journal/journal.ts';
import { signedHeaders } from '../../src/testing/signed-headers.ts';

/** The key of the service and of all receivers. */
export const KEY = 'the signing key of the simulated service';

/** The one event of a world, created when its time begins. */
export const EVENT = {
  id: 'evt_1',
  type: 'transfer.succeeded',
  created_at: '2026-01-01T00:00:00Z',
  data: { id: 'tr_1' },
} as const;

/** The event as the service sends it. */
export const BODY: Uint8Array = Buffer.from(JSON.stringify(EVENT));

export const HEADERS: Readonly<Record<string, string>> = {
  ...signedHeaders(BODY, { key: KEY }),
  'content-length': String(BODY.byteLength),
};

/** The name of the handler, which reruns run. */
export const HANDLER = 'book';

/** The event in a journal, after it was handled. */
export const ENTRY: JournalEntry = {
  id: EVENT.id,
  type: EVENT.type,
  provider: 'banking-service',
  firstReceivedAt: Date.parse(EVENT.created_at),
  lastReceivedAt: Date.parse(EVENT.created_at),
  deliveries: 1,
  attempts: 1,
  outcome: 'processed',
  handled: [HANDLER],
  rawBody: BODY,
};
