import type { LetterReason } from '../dead-letters/letter-operations.ts';
import { isFinalByAge } from '../dedupe/last-attempt.ts';
import type { PosthornError } from '../errors.ts';
import type { Run } from './run.ts';
import { rulesOf } from './run-state.ts';

/**
 * Stores the letter, or stores it anew, and resolves with the id that it is stored under, if it is. `mayRun`
 * says that the handlers may be running from now on.
 */
export async function storeLetter(
  { letter, progress, services }: Run,
  reason: LetterReason,
  { mayRun, answerBy }: { readonly mayRun: boolean; readonly answerBy?: number },
): Promise<string | undefined> {
  const { now, maxRunMs } = services.settings;
  const runningUntil = mayRun ? now() + maxRunMs : undefined;
  const { attempt: attempts = 0, handled } = progress;
  return letter?.store(reason, { attempts, handled, runningUntil }, answerBy);
}

/** Parks the event beside or after its run, for a delivery that no retry will follow. */
export async function parkBesideRun(
  run: Run,
  error: PosthornError,
  answerBy: number,
): Promise<string | undefined> {
  const { hasEnded, mayRun } = rulesOf(run.state);
  if (!hasEnded && run.letter?.storedAs !== undefined) return run.letter.storedAs;
  const storedAs = await storeLetter(run, error, { mayRun, answerBy });
  // The event may have been completed before the letter was stored.
  if (storedAs !== undefined && rulesOf(run.state).hasEnded) void removeIfCompleted(run);
  return storedAs;
}

/**
 * True if the event may have a letter: of this run, of an earlier attempt, or of a queue that has given up a
 * long job.
 */
export function mayHaveLetter({ input, interruption, letter, progress, services }: Run): boolean {
  const { createdAt, deadline, origin } = input;
  if (letter === undefined) return false;
  if (letter.isBegun || letter.storedAs !== undefined || origin.mayBeParked) return true;
  if (progress.attempt === undefined) return false;
  if (progress.attempt > 1 || interruption.isAborted) return true;
  if (origin.mayBeSwept && deadline.isPast) return true;
  const { now, retryScheduleMs } = services.settings;
  return isFinalByAge(now() - createdAt, retryScheduleMs);
}

/** Removes the letter if another run has completed the event by now. */
export async function removeIfCompleted({ input, letter, services }: Run): Promise<void> {
  await letter?.removeIfCompleted(input, services);
}
