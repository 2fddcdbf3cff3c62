import { isPosthornError } from '../../errors.ts';
import { type Answer, accept, refuse } from '../../outcomes/outcome.ts';
import type { Run } from './run.ts';

/**
 * Completes the id, and removes the dead letter. The lease is renewed until then, so that no other process
 * takes the event.
 */
export async function recordSuccess(run: Run): Promise<Answer> {
  const { identity, origin } = run.input;
  run.enter({ step: 'completing' });
  const isKnown = await run.claim.complete();
  if (!isKnown)
    run.warnings.push('completion_pending: the store did not take the completion; it is tried again');
  const answer = accept(origin.successOutcome, identity.id);
  // A delivery whose deadline comes during the removal gets this answer.
  run.enter({ step: 'ended', answer });
  if (run.letterRules.mayExist) await removeLetter(run, 'success');
  return answer;
}

/** Ends a run whose event another run has handled or enqueued. */
export async function answerDuplicate(run: Run): Promise<Answer> {
  const answer = accept('duplicate', run.input.identity.id);
  run.enter({ step: 'ended', answer });
  await removeLetter(run, 'duplicate');
  return answer;
}

/** Ends a run that no longer waits for the process that has its event. */
export function answerBusy(run: Run): Answer {
  const answer = run.answerNow();
  run.enter({ step: 'ended', answer });
  void removeLetter(run, 'busy');
  return answer;
}

/** Removes the dead letter if the rules say so for this end. */
async function removeLetter(run: Run, end: 'success' | 'duplicate' | 'busy'): Promise<void> {
  const removal = run.letterRules.removal[end];
  if (removal === 'at once') await run.letter?.remove();
  if (removal === 'if completed') await run.letter?.removeIfCompleted(run.input.identity, run.services);
}

/** Parks the event if no other attempt follows, and releases its id. */
export async function recordFailure(run: Run, thrown: unknown): Promise<Answer> {
  const { identity, origin } = run.input;
  const { attempt, final } = run.progress;
  if (isPosthornError(thrown) && thrown.code === 'completed_elsewhere') return answerDuplicate(run);
  const refused = refuse(thrown);
  const { error } = refused;
  run.enter({ step: 'failing', error });
  const isClaimed = attempt !== undefined;
  const isLast = final || error.code === 'handler_failed_permanently' || run.letterRules.hasBegunWriting;
  const mustPark = isClaimed && isLast && !origin.isPutBack(error);
  // Another process may have taken the event while a handler waited for its key.
  const mayBeRunning = error.code === 'event_running';
  const storedAs = mustPark ? await run.storeLetter(error, { mayBeRunning }) : undefined;
  if (isClaimed)
    return releaseClaim(run, storedAs === undefined ? refused : accept('parked', identity.id, error));
  // The store has just failed, so the answer does not wait for it. But it may have granted the claim. If the
  // event is final by age, `deliver.ts` parks it.
  void releaseClaim(run, refused);
  return refused;
}

/** Releases the id after an attempt that failed or did not run, and resolves with the answer. */
export async function releaseClaim(run: Run, answer: Answer): Promise<Answer> {
  // The lease is renewed until here, because storing the dead letter may take longer than a lease.
  run.resources.giveBackAll();
  const released = await run.claim.release(run.progress.handled);
  if (released.state === 'completed') return answerDuplicate(run);
  // Only if there may be a dead letter: a store without `peek` may count the reading as an attempt.
  const { givenBack } = run.letterRules.removal;
  if (givenBack === 'if completed meanwhile')
    void run.letter?.removeIfCompletedMeanwhile(released, run.input.identity, run.services);
  if (givenBack === 'if completed') void run.letter?.removeIfCompleted(run.input.identity, run.services);
  return answer;
}

/** Records the late end of aborted handlers: a success completes the id, whichever process has it by then. */
export async function recordLateEnd(run: Run): Promise<void> {
  if (run.handlersEnded === undefined) return;
  if ((await run.handlersEnded) === undefined) await recordSuccess(run);
  else await run.claim.release(run.progress.handled);
}
