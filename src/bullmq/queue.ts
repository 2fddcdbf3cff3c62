import { Queue as BullQueue, type JobsOptions } from 'bullmq';
import { checkOptions } from '../check-options.ts';
import type { Queue } from '../queue/queue.ts';
import { Readiness } from '../redis/readiness.ts';
import {
  type BullConnectionOptions,
  checkConnection,
  closeInTime,
  connectionLog,
  isClient,
  KEY_PREFIX,
} from './connection.ts';
import { jobIdOf } from './job-id.ts';
import { MemoryShare, readMaxMemoryShare } from './memory-share.ts';
import { connectionOf } from './queue-connection.ts';

/** Options of {@link createBullQueue}. */
export interface BullQueueOptions extends BullConnectionOptions {
  /**
   * How full Redis may be, as a part of its `maxmemory`, for a job to be added: above 0 and at most 1, and
   * 0.9 by default. Above it `add` refuses, because workers need memory to take and to remove jobs. Counts
   * only under `maxmemory-policy noeviction` with a `maxmemory`; 1 leaves the refusal to Redis.
   */
  readonly maxMemoryShare?: number;
}

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

/** How long a job waits for the connection unless its caller says so. */
const WAIT_MS = 5_000;

/** The options of a connection of the queue's own; given options come first. */
const CONNECTION_OPTIONS = {
  // A job waits here for the connection: ioredis may send what it queues after its caller has given up.
  enableOfflineQueue: false,
  // BullMQ's first question is sent again until it is answered. If ioredis gave it up, the queue would refuse
  // every job until the process ends.
  maxRetriesPerRequest: null,
  // BullMQ would wait for a second at least, and for 20 seconds in a long outage.
  retryStrategy: (times: number): number => Math.min(times * 20, 1_000),
};

/**
 * Creates a queue in Redis, through BullMQ. A job is as durable as that Redis: it needs `appendonly yes` and
 * `maxmemory-policy noeviction`.
 *
 * @throws ConfigurationError for a wrong option.
 *
 * @example
 * ```ts
 * const queue = createBullQueue({ connection: { host: 'redis' }, scope: 'billing-production' });
 * const receiver = createReceiver({ signingKey, queue });
 * receiver.on('transfer.*', book, { name: 'book', queue: true });
 * ```
 */
export function createBullQueue(options: BullQueueOptions): Queue {
  checkOptions(options, ['connection', 'scope', 'maxMemoryShare'], 'createBullQueue');
  checkConnection('createBullQueue', options);
  const maxMemoryShare = readMaxMemoryShare(options.maxMemoryShare);
  const { connection, scope } = options;
  const bull = new BullQueue(scope, {
    connection: isClient(connection) ? connection : { ...CONNECTION_OPTIONS, ...connection },
    prefix: KEY_PREFIX,
    defaultJobOptions: JOB_OPTIONS,
  });
  bull.on('error', connectionLog(`the queue ${scope}`));
  const readiness = Readiness.of(connectionOf(bull));
  const memory = new MemoryShare(bull, maxMemoryShare);
  let closed: Promise<void> | undefined;
  return {
    add: (job, { waitMs = WAIT_MS } = {}) => {
      // The data becomes JSON by the job's own toJSON.
      const send = (): Promise<unknown> => bull.add(job.type, job, { jobId: jobIdOf(job.id) });
      return readiness.send(() => memory.add(job, send), waitMs);
    },
    mustWait: () => !readiness.isReady,
    close: () => {
      closed ??= closeInTime(bull);
      return closed;
    },
  };
}
