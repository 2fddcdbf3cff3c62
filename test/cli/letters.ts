import type { DeadLetter } from 'posthorn';

/** A parked event of the given id. */
export function letter(id: string, changes: Partial<DeadLetter> = {}): DeadLetter {
  const type = changes.type ?? 'transfer.succeeded';
  const created_at = new Date().toISOString();
  return {
    id,
    type,
    reason: 'handler_failed',
    message: 'a handler failed: out of order',
    rawBody: Buffer.from(JSON.stringify({ id, type, created_at, data: { amount: 5 } })),
    headers: { 'content-type': ['application/json'] },
    receivedAt: Date.now(),
    parkedAt: Date.now(),
    attempts: 4,
    handled: [],
    ...changes,
  };
}
