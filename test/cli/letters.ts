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

/** Dead letters that were parked a minute apart, because a list is in the order of these times. */
export function inOrder(ids: readonly string[], firstAt: number = Date.now() - 3_600_000): DeadLetter[] {
  return ids.map((id, index) => letter(id, { parkedAt: firstAt + index * 60_000 }));
}

/** The members of a summary in JSON, if the command took every dead letter. */
export const nothingSkipped = { running: 0, old: 0, missing: 0, more: false } as const;
