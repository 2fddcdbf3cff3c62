import type { QueuedJob } from './queued-job.ts';

/**
 * A durable queue between the receiver and workers. `createBullQueue` of `posthorn/bullmq` is one; any other
 * hands each job to `receiver.dispatch` in a worker, once or more often, in any order.
 */
export interface Queue {
  /**
   * Resolves once the job is durable: the service then gets a 2xx and never sends the event again. A job
   * whose `id` is in the queue already may be left out. It has a few seconds, then it counts as failed; a job
   * that arrives later does no harm.
   */
  add(job: QueuedJob): Promise<unknown>;
  /** Ends the queue's connection. Its owner calls it, after `receiver.close()`; the receiver never does. */
  close(): Promise<unknown>;
}
