import { Queue as BullQueue, type JobsOptions } from 'bullmq';
import { checkOptions } from '../check-options.ts';
import type { Queue } from '../queue/queue.ts';
import {
  type BullConnectionOptions,
  checkConnection,
  closeInTime,
  connectionLog,
  isClient,
  KEY_PREFIX,
} from './connection.ts';
import { jobIdOf } from './job-id.ts';

/** The options of every job. */
const JOB_OPTIONS: JobsOptions = {
  // After 10, 20, 40 … seconds, the last time after 43 minutes: an hour in all, for an outage of what the
  // handlers need. Up to half of each pause is left out at random: what failed together comes apart.
  attempts: 10,
  backoff: { type: 'exponential', delay: 10_000, jitter: 0.5 },
  // A job that is kept would keep its event out of the queue: BullMQ leaves out a job whose id it has. The
  // store remembers what was handled, and the payload is gone.
  removeOnComplete: true,
  // What fails for good becomes a letter. Until then, and without dead letters, the job is all there is.
  removeOnFail: false,
  stackTraceLimit: 3,
};

/**
 * Creates a queue in Redis, through BullMQ. A job is as durable as that Redis: it needs `appendonly yes` and
 * `maxmemory-policy noeviction`.
 *
 * @throws ConfigurationError for a wrong connection or scope.
 *
 * @example
 * ```ts
 * const queue = createBullQueue({ connection: { host: 'redis' }, scope: 'billing-production' });
 * const receiver = createReceiver({ signingKey, queue });
 * receiver.on('transfer.*', book, { name: 'book', queue: true });
 * ```
 */
export function createBullQueue(options: BullConnectionOptions): Queue {
  checkOptions(options, ['connection', 'scope'], 'createBullQueue');
  checkConnection('createBullQueue', options);
  const { connection, scope } = options;
  const bull = new BullQueue(scope, {
    connection: isClient(connection) ? connection : withoutWaiting(connection),
    prefix: KEY_PREFIX,
    defaultJobOptions: JOB_OPTIONS,
  });
  bull.on('error', connectionLog(`the queue ${scope}`));
  let closed: Promise<void> | undefined;
  return {
    // The data becomes JSON by the job's own toJSON.
    add: (job) => bull.add(job.type, job, { jobId: jobIdOf(job.id) }),
    close: () => {
      closed ??= closeInTime(bull);
      return closed;
    },
  };
}

/**
 * While the connection is lost a delivery fails at once, instead of waiting for its time limit: the service
 * sends it again. Given options come first.
 */
function withoutWaiting(connection: object): object {
  return { enableOfflineQueue: false, maxRetriesPerRequest: 1, ...connection };
}
