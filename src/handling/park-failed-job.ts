import { Claim } from '../dedupe/claim.ts';
import { handlingId } from '../dedupe/claim-id.ts';
import { PosthornError, UnavailableError } from '../errors.ts';
import { type AnyEvent, createdAtMs } from '../events/event.ts';
import { type Answer, accept, refuse } from '../outcomes/outcome.ts';
import type { ReadJob } from '../queue/queued-job.ts';
import type { DeliveryProgress } from './delivery-progress.ts';
import type { JobFailure } from './dispatch-options.ts';
import { LetterHandle } from './event-letter.ts';
import type { Handling } from './handling.ts';
import { removeIfCompleted } from './remove-if-completed.ts';

/** A job that its queue has given up. */
export interface FailedJob extends Pick<ReadJob, 'rawBody' | 'headers' | 'receivedAt' | 'handled'> {
  readonly event: AnyEvent;
  /** The number of attempts that the queue has made. */
  readonly attempt: number;
  readonly failure: JobFailure;
}

/**
 * Parks the event of a job that its queue has given up, unless the event is being handled, or was handled.
 * Several workers may find the job, and the letter of the first may be replayed at once. So the event is
 * claimed while its letter is written, and read again if the claim did not hold for that long.
 */
export async function parkFailedJob(
  handling: Handling,
  job: FailedJob,
  progress: DeliveryProgress,
): Promise<Answer> {
  const { completions, letters, runs, settings, store } = handling;
  const { event, failure, rawBody, headers, receivedAt } = job;
  const { id, type } = event;
  const { deadline, warnings } = progress;
  const letter = new LetterHandle(letters, { rawBody, headers, receivedAt, id, type }, deadline, warnings);
  const claimId = handlingId(id);
  const createdAt = createdAtMs(event);
  if (completions.has(claimId)) return answerHandled(id, letter);
  // Finds a run without a claim too, under `onStoreFailure: 'process'`.
  if (runs.find(claimId) !== undefined) return refuse(stillRunning());
  const services = { settings: { ...settings, onStoreFailure: 'reject' as const }, store, completions };
  const claim = new Claim({ claimId, createdAt }, services, warnings);
  const handled = new Set(job.handled);
  try {
    const result = await claim.take();
    if (result.state === 'completed') return await answerHandled(id, letter);
    if (result.state === 'busy') return refuse(stillRunning());
    claim.startRenewing(() => {});
    // The process may have been frozen since the claim was sent.
    while (claim.isOld) await claim.confirm();
    if (claim.state !== 'held') return refuse(stillRunning());
    for (const name of result.handled) handled.add(name);
    await letter.store(failure, { attempts: job.attempt, handled });
  } catch (error) {
    // The store failed, but may have granted the claim.
    await claim.release([]);
    throw error;
  } finally {
    claim.stopRenewing();
  }
  const released = await claim.release(handled);
  if (released === 'completed') return answerHandled(id, letter);
  const refused = refuse(new PosthornError(failure.code, failure.message));
  // The store may answer the release late.
  const isHeld = (released ?? (await claim.released())) === 'released';
  if (!isHeld) await removeIfCompleted(letter, { id, createdAt }, handling);
  return letter.storedAs === undefined ? refused : accept('parked', id, refused.error);
}

/** A worker that died before it could remove the job may have left the letter. */
async function answerHandled(id: string, letter: LetterHandle): Promise<Answer> {
  await letter.removeAny();
  return accept('duplicate', id);
}

function stillRunning(): UnavailableError {
  return new UnavailableError('event_running', 'the event of the failed job is being handled');
}
