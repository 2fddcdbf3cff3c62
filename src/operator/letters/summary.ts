import type { DeadLetterSummary } from '../../receiver/dead-letters/dead-letters.ts';

/** Takes no body along: dead letters without `summaries` list whole ones. */
export function summaryOf(letter: DeadLetterSummary): DeadLetterSummary {
  const { id, eventId, provider, account, type, reason, message } = letter;
  const { receivedAt, parkedAt, lastTriedAt, attempts, handled, runningUntil } = letter;
  const times = { receivedAt, parkedAt, lastTriedAt, runningUntil };
  return { id, eventId, provider, account, type, reason, message, ...times, attempts, handled };
}
