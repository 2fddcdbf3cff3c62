import type { JournalEntry, WebhookEvent } from 'posthorn';

/** The entry that a journal has of an event whose handler `book` has finished. */
export function handledEntry(event: WebhookEvent): JournalEntry {
  const receivedAt = Date.now();
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
  };
}
