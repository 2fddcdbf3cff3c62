import { UnavailableError } from '../errors.ts';
import { mustWait } from '../timing/must-wait.ts';
import { withTimeLimit } from '../timing/time-limit.ts';
import { messageOf } from '../values/foreign-values.ts';
import type { Queue } from './queue.ts';
import type { QueuedJob } from './queued-job.ts';

/** How long a job may take to be added. */
export interface AddLimits {
  readonly limitMs: number;
  /** Called if the job has to wait for a connection to the queue; returns whether it may wait. */
  readonly mayWait: () => boolean;
}

/**
 * Adds a job. Resolves with an error if the queue refuses the job or takes longer than the limit: the clients
 * of most queues wait endlessly for a lost connection. A job that arrives late is handled once all the same:
 * workers claim its event.
 */
export async function addInTime(
  queue: Queue,
  job: QueuedJob,
  { limitMs, mayWait }: AddLimits,
): Promise<UnavailableError | undefined> {
  try {
    const late = (): Error => new Error(`no answer in ${limitMs} ms`);
    const waitMs = !mustWait(queue) || mayWait() ? limitMs : 0;
    const added = Promise.resolve(queue.add(job, { waitMs }));
    await withTimeLimit(added, limitMs, late);
    return undefined;
  } catch (cause) {
    const message = `the queue did not take the event: ${messageOf(cause)}`;
    return new UnavailableError('queue_unavailable', message, { cause });
  }
}
