import type { JobsOptions } from 'bullmq';

/** The options of every job. */
export const JOB_OPTIONS: JobsOptions = {
  // The pauses are 10, 20, 40 … seconds, and 43 minutes at the end. Together they outlast an outage of about
  // an hour. Up to half of each pause is left out at random, so that jobs that failed together spread out.
  attempts: 10,
  backoff: { type: 'exponential', delay: 10_000, jitter: 0.5 },
  // A kept job would block its event, because BullMQ ignores a job whose id it has. It would also keep the
  // payload. The store remembers the handled events.
  removeOnComplete: true,
  // A job that fails for good becomes a dead letter. Until then, or without dead letters, it is the only
  // copy.
  removeOnFail: false,
  stackTraceLimit: 3,
};

/** The time for which a job waits for the connection by default. */
export const WAIT_MS = 5_000;
