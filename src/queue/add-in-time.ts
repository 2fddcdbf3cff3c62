import { messageOf, UnavailableError } from '../errors.ts';
import { withTimeLimit } from '../timing/time-limit.ts';
import type { Queue } from './queue.ts';
import type { QueuedJob } from './queued-job.ts';

/**
 * Adds a job; resolves with an error where the queue refuses it or takes longer than the limit. The clients
 * of most queues wait for a lost connection without end. A job that arrives late is handled once all the
 * same: workers claim its event.
 */
export async function addInTime(
  queue: Queue,
  job: QueuedJob,
  limitMs: number,
): Promise<UnavailableError | undefined> {
  try {
    const late = (): Error => new Error(`no answer in ${limitMs} ms`);
    await withTimeLimit(Promise.resolve(queue.add(job)), limitMs, late);
    return undefined;
  } catch (cause) {
    const message = `the queue did not take the event: ${messageOf(cause)}`;
    return new UnavailableError('queue_unavailable', message, { cause });
  }
}
