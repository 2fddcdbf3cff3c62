import type { PosthornError } from '../../errors.ts';
import type { Run } from '../run/run.ts';
import { rulesOf } from '../run/run-state.ts';

/**
 * Parks the event during or after its run, because no further attempt follows. Resolves with the id of the
 * dead letter, or with undefined if none is stored.
 */
export async function parkRun(run: Run, error: PosthornError, answerBy: number): Promise<string | undefined> {
  const { hasEnded, mayBeRunning } = rulesOf(run.state);
  if (!hasEnded && run.letter?.storedAs !== undefined) return run.letter.storedAs;
  const storedAs = await run.storeLetter(error, { mayBeRunning, answerBy });
  // The event may have been completed before the dead letter was stored. A write that was given up as late
  // may still store it.
  if (rulesOf(run.state).hasEnded) void run.letter?.removeIfCompleted(run.input.identity, run.services);
  return storedAs;
}
