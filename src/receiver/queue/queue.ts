import type { QueuedJob } from './queued-job.ts';

/** How `add` of a {@link Queue} may wait. */
export interface QueueAddOptions {
  /**
   * The time that the job may wait for a connection before it is sent, in milliseconds; 5,000 by default.
   * With 0, a job that cannot be sent now fails at once. A queue that never waits ignores it.
   */
  readonly waitMs?: number | undefined;
}

/**
 * A durable queue between the receiver and workers. `createBullQueue` of `posthorn/bullmq` is one. Any other
 * queue hands each job to `receiver.dispatch` in a worker, once or more often, in any order.
 */
export interface Queue {
  /**
   * Resolves once the job is durable: the service then gets a 2xx and never sends the event again. A job
   * whose `id` is in the queue already may be left out. The call counts as failed after a few seconds; a job
   * that arrives later does no harm.
   */
  add(job: QueuedJob, options?: QueueAddOptions): Promise<unknown>;
  /**
   * Returns true if a job that is added now would wait for a connection. The receiver then counts the body of
   * the event in `maxBufferedBytes`; if it does not fit, the job gets 0 as `waitMs`. A queue that never waits
   * leaves this method out.
   */
  mustWait?(): boolean;
  /** Ends the queue's connection. Its owner calls it, after `receiver.close()`; the receiver never does. */
  close(): Promise<unknown>;
}
