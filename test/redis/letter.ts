import type { DeadLetter } from 'posthorn';

/** A letter with everything that one can hold. */
export function letterOf(id: string): DeadLetter {
  return {
    id,
    type: 'transfer.failed',
    reason: 'handler_failed',
    message: 'it said "no" \u2028 \ud800',
    rawBody: Uint8Array.from({ length: 256 }, (_, byte) => byte),
    headers: { 'x-list': ['a', 'b'], 'x-é': [''] },
    receivedAt: 1,
    parkedAt: 2,
    attempts: 3,
    handled: ['book', 'mail "x"'],
    runningUntil: 4,
  };
}
