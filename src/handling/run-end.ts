import { isPosthornError } from '../errors.ts';
import { type Answer, accept, refuse } from '../outcomes/outcome.ts';
import type { Run } from './run.ts';
import { mayHaveLetter, removeIfCompleted, storeLetter } from './run-letter.ts';
import { rulesOf } from './run-state.ts';

/** The lease is renewed until the completion is recorded, so that no other process takes the event. */
export async function recordSuccess(run: Run): Promise<Answer> {
  const { id, origin } = run.input;
  run.state = { step: 'completing' };
  const isKnown = await run.claim.complete();
  if (!isKnown)
    run.warnings.push('completion_pending: the store did not take the completion; it is tried again');
  const answer = accept(origin.success, id);
  run.state = { step: 'ended', answer };
  if (origin.removesLetter && mayHaveLetter(run)) await run.letter?.remove();
  return answer;
}

/** Another run has completed the event. If it has only enqueued it, the letter may be that of a worker. */
export async function answerDuplicate(run: Run): Promise<Answer> {
  const { id, origin } = run.input;
  const answer = accept('duplicate', id);
  run.state = { step: 'ended', answer };
  if (!mayHaveLetter(run)) return answer;
  if (origin.removesLetter) await run.letter?.remove();
  else await removeIfCompleted(run);
  return answer;
}

/** The answer to a delivery whose deadline has come. */
export function answerNow({ input, letter, state }: Run): Answer {
  return rulesOf(state).answer(input, letter);
}

/** Another process still handles the event, and no delivery waits here any more. */
export function answerBusy(run: Run): Answer {
  const answer = answerNow(run);
  // A letter that was stored meanwhile may be that of an event which is completed by now.
  if (run.letter?.isBegun) void removeIfCompleted(run);
  return answer;
}

/** Parks the event if no other attempt follows, and gives it back. */
export async function recordFailure(run: Run, thrown: unknown): Promise<Answer> {
  const { id, origin } = run.input;
  const { attempt, final } = run.progress;
  if (isPosthornError(thrown) && thrown.code === 'completed_elsewhere') return answerDuplicate(run);
  const refused = refuse(thrown);
  const { error } = refused;
  run.state = { step: 'failing', error };
  const isClaimed = attempt !== undefined;
  const isLast = final || error.code === 'handler_failed_permanently' || run.letter?.isBegun;
  const mustPark = isClaimed && isLast && !origin.isPutBack(error);
  const storedAs = mustPark ? await storeLetter(run, error, { mayRun: false }) : undefined;
  const answer = giveBack(run, storedAs === undefined ? refused : accept('parked', id, error));
  // A store that has just failed to answer a claim is not waited for again; it may have granted the claim.
  return isClaimed ? answer : refused;
}

/** Gives the id back after an attempt that failed or was not run, and resolves with the answer. */
export async function giveBack(run: Run, answer: Answer): Promise<Answer> {
  // Not before the letter is stored, which may take longer than a lease.
  run.scope.close();
  const { state, late } = await run.claim.release(run.progress.handled);
  // Another run may have completed the event before its letter was stored.
  if (state === 'completed') return answerDuplicate(run);
  if (state !== 'released' && mayHaveLetter(run)) void removeUnlessReleased(run, late);
  return answer;
}

/** The store may answer the release late. */
async function removeUnlessReleased(run: Run, late: Promise<unknown> | undefined): Promise<void> {
  if ((await late) !== 'released') await removeIfCompleted(run);
}

/** Records how aborted handlers ended after all: a success completes the id, whoever holds it by then. */
export async function recordLateEnd(run: Run): Promise<void> {
  if (run.finished === undefined) return;
  if ((await run.finished) === undefined) await recordSuccess(run);
  else await run.claim.release(run.progress.handled);
}
