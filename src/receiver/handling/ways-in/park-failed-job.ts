import { handlingId } from '../../dedupe/claim-id.ts';
import { isHeld } from '../../dedupe/lease.ts';
import { PosthornError, UnavailableError } from '../../errors.ts';
import { type Answer, accept, refuse, toReportedError } from '../../outcomes/outcome.ts';
import type { EventIdentity } from '../../provider/event-identity.ts';
import type { ReadJob } from '../../queue/queued-job.ts';
import { EventLetter } from '../letters/event-letter.ts';
import type { Arrival } from './arrival.ts';
import type { JobFailure } from './dispatch-options.ts';
import { holdEvent } from './hold-id.ts';
import type { ReceiverServices } from './receiver-services.ts';

/** A job that its queue has given up. */
interface FailedJob extends Pick<ReadJob, 'rawBody' | 'headers' | 'receivedAt' | 'handled'> {
  readonly identity: EventIdentity;
  /** The number of attempts that the queue has made. */
  readonly attempt: number;
  readonly failure: JobFailure;
}

/**
 * Parks the event of a job that its queue has given up, unless the event is being handled, or was handled.
 * Several workers may find the job, and the dead letter of the first may be replayed at once. So the event is
 * claimed while its dead letter is written. If another process took the claim and completed the event
 * meanwhile, the dead letter is removed.
 */
export async function parkFailedJob(
  services: ReceiverServices,
  job: FailedJob,
  { deadline, warnings }: Arrival,
): Promise<Answer> {
  const { failure, headers, identity, rawBody, receivedAt } = job;
  const { createdAtMs, id, key } = identity;
  const { letters } = services;
  const content = { rawBody, headers, receivedAt, event: identity };
  const letter = letters && new EventLetter(letters, content, deadline, warnings);
  const found = await holdEvent(services, { claimId: handlingId(key), createdAtMs }, warnings);
  if (found.state === 'completed') return answerHandled(id, letter);
  if (found.state !== 'claimed') return refuse(stillRunning());
  const { claim, lease, result } = found;
  const handled = new Set([...job.handled, ...result.handled]);
  try {
    // The process may have been frozen since it sent the claim.
    if (!(await isHeld(lease))) return refuse(stillRunning());
    await letter?.store(failure, { attempts: job.attempt, handled });
  } catch (error) {
    await claim.release([]);
    throw error;
  } finally {
    lease.stop();
  }
  const released = await claim.release(handled);
  if (released.state === 'completed') return answerHandled(id, letter);
  await letter?.removeIfCompletedMeanwhile(released, identity, services);
  const error = toReportedError(new PosthornError(failure.code, failure.message));
  return letter?.storedAs === undefined ? refuse(error) : accept('parked', id, error);
}

/** Removes the dead letter that another worker may have left when it died. */
async function answerHandled(id: string, letter: EventLetter | undefined): Promise<Answer> {
  await letter?.remove();
  return accept('duplicate', id);
}

function stillRunning(): UnavailableError {
  return new UnavailableError('event_running', 'the event of the failed job is being handled');
}
