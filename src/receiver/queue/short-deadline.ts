import type { Warning } from '../outcomes/report.ts';
import type { CheckedProvider } from '../provider/checked-provider.ts';
import type { Queue } from './queue.ts';

/** A sender that waits for less time advises to answer first and to work later. */
const SHORT_WAIT_MS = 5_000;

/**
 * Warns of handlers that have little time, because the sender waits briefly and there is no queue. `chosenMs`
 * is the option `deadlineMs`: a user who has set it knows the time.
 */
export function shortDeadlineWarnings(
  settings: {
    readonly provider: Pick<CheckedProvider, 'name' | 'answerWithinMs'>;
    readonly queue: Queue | undefined;
    readonly deadlineMs: number;
  },
  chosenMs: number | undefined,
): Warning[] {
  const { provider, queue, deadlineMs } = settings;
  if (provider.answerWithinMs >= SHORT_WAIT_MS || queue !== undefined || chosenMs !== undefined) return [];
  const [waits, left] = [provider.answerWithinMs, deadlineMs].map((ms) => `${ms / 1_000} s`);
  const advice = 'set the option queue, or deadlineMs if that is enough';
  return [
    `deadline_short: ${provider.name} waits ${waits} for an answer, and handlers have ${left} without a queue: ${advice}`,
  ];
}
