import type { CheckedProvider } from '../provider/checked-provider.ts';
import type { Warning } from './report.ts';

/** Senders with a shorter wait advise their users to answer first. */
const SHORT_WAIT_MS = 5_000;

/**
 * Warns of handlers that have little time, because the sender waits briefly and there is no queue. `chosenMs`
 * is the option `deadlineMs`: if the user has set it, the time is known.
 */
export function shortDeadlineWarnings(
  settings: {
    readonly provider: Pick<CheckedProvider, 'name' | 'answerWithinMs'>;
    readonly queue?: unknown;
    readonly deadlineMs: number;
  },
  chosenMs: number | undefined,
): Warning[] {
  const { provider, queue, deadlineMs } = settings;
  if (provider.answerWithinMs >= SHORT_WAIT_MS || queue !== undefined || chosenMs !== undefined) return [];
  const waits = `${provider.name} waits ${provider.answerWithinMs / 1_000} s for an answer`;
  const left = `handlers have ${deadlineMs / 1_000} s without a queue`;
  return [`deadline_short: ${waits}, and ${left}: set the option queue, or deadlineMs if that is enough`];
}
