import type { DeadLetterSummary, DeadLetters } from './dead-letters.ts';

/** Lists dead letters without their bodies, if that is possible; or else whole ones. */
export function summariesOf(
  deadLetters: DeadLetters,
  options?: Parameters<DeadLetters['list']>[0],
): AsyncIterable<DeadLetterSummary> {
  return deadLetters.summaries?.(options) ?? deadLetters.list(options);
}
