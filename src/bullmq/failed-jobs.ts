import type { Queue as BullQueue, Job } from 'bullmq';
import type { DeadLetter, DeadLetters } from '../dead-letters/dead-letters.ts';
import { timesOf } from '../dead-letters/letter-operations.ts';
import { errorCodes } from '../errors.ts';
import { type AnyEvent, parseEvent } from '../events/event.ts';
import { messageOf } from '../foreign-values.ts';
import { type ReadJob, readJob } from '../queue/queued-job.ts';

const PAGE_SIZE = 100;

type FailedJob = Pick<Job, 'data' | 'failedReason' | 'attemptsMade'>;

interface JobContent extends ReadJob {
  readonly event: AnyEvent;
}

/**
 * Turns jobs that have failed for good into letters: their workers died too often, or their letter could not
 * be stored at the last attempt. A job is removed once its letter is stored. An unreadable job stays, for a
 * worker of a newer version.
 */
export async function sweepFailedJobs(bull: BullQueue, deadLetters: DeadLetters): Promise<void> {
  let kept = 0;
  for (;;) {
    const jobs = await bull.getFailed(kept, kept + PAGE_SIZE - 1);
    for (const job of jobs) {
      if (await sweepJob(job, deadLetters)) await job.remove();
      else kept += 1;
    }
    if (jobs.length < PAGE_SIZE) return;
  }
}

/** Resolves with true once the letter is stored. */
async function sweepJob(job: FailedJob, deadLetters: DeadLetters): Promise<boolean> {
  const content = tryRead(job.data);
  if (content === undefined) return false;
  await deadLetters.put(await toLetter(content, job, deadLetters));
  return true;
}

function tryRead(data: unknown): JobContent | undefined {
  try {
    const job = readJob(data);
    return { ...job, event: parseEvent(job.rawBody) };
  } catch {
    return undefined;
  }
}

async function toLetter(
  { event, rawBody, headers, receivedAt, handled }: JobContent,
  { failedReason, attemptsMade }: FailedJob,
  deadLetters: DeadLetters,
): Promise<DeadLetter> {
  const { id, type } = event;
  const earlier = await deadLetters.get(id);
  return {
    id,
    type,
    ...readFailure(failedReason),
    rawBody,
    headers,
    receivedAt,
    ...timesOf(earlier, Date.now()),
    attempts: Math.max(attemptsMade, earlier?.attempts ?? 0),
    handled: [...new Set([...(earlier?.handled ?? []), ...handled])],
  };
}

/** The worker puts the code of an error before its message. */
function readFailure(failedReason: string): Pick<DeadLetter, 'reason' | 'message'> {
  const [reason = ''] = failedReason.split(': ', 1);
  if (codes.has(reason)) return { reason, message: failedReason.slice(reason.length + 2) };
  // A job that BullMQ itself failed has killed or outlived its workers.
  const isAbandoned = /stalled|started more than/.test(failedReason);
  return { reason: isAbandoned ? 'run_abandoned' : 'handler_failed', message: messageOf(failedReason) };
}

const codes: ReadonlySet<string> = new Set(Object.values(errorCodes).flat());
