import type { JobsOptions } from 'bullmq';

/** The options of every job. */
export const JOB_OPTIONS: JobsOptions = {
  // Pauses of 10, 20, 40 … seconds, the last of 43 minutes: an hour or so in all, to outlast an outage of
  // what the handlers need. Up to half of each pause is left out at random, so that jobs that failed together
  // come apart.
  attempts: 10,
  backoff: { type: 'exponential', delay: 10_000, jitter: 0.5 },
  // A kept job would block its event, because BullMQ ignores a job whose id it has. The store remembers which
  // events were handled, and the payload is gone.
  removeOnComplete: true,
  // A job that fails for good becomes a dead letter. Until then, or without dead letters, it is the only
  // copy.
  removeOnFail: false,
  stackTraceLimit: 3,
};

/** The time for which a job waits for the connection by default. */
export const WAIT_MS = 5_000;
