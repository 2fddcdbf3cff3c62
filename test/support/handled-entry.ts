import type { JournalEntry } from 'posthorn';

/** The entry of an event whose handler "book" has finished, as a journal has it. */
export function handledEntry(
  event: { readonly id: string; readonly type: string },
  changes: Partial<JournalEntry> = {},
): JournalEntry {
  const receivedAt = Date.parse('2025-03-01T12:00:00Z');
  return {
    id: event.id,
    type: event.type,
    provider: 'banking-service',
    firstReceivedAt: receivedAt,
    lastReceivedAt: receivedAt,
    deliveries: 1,
    attempts: 1,
    outcome: 'processed',
    handled: ['book'],
    rawBody: Buffer.from(JSON.stringify(event)),
    headers: {},
    ...changes,
  };
}
