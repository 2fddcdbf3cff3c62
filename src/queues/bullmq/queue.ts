import { Queue as BullQueue, type JobsOptions } from 'bullmq';
import type { Queue } from '../../receiver/queue/queue.ts';
import { checkOptions } from '../../receiver/values/check-options.ts';
import { Readiness } from '../../stores/kit/readiness.ts';
import { connectionOfIoredis } from '../../stores/redis/clients/ioredis.ts';
import {
  type BullConnectionOptions,
  checkConnection,
  closeInTime,
  connectionLog,
  isClient,
  KEY_PREFIX,
} from './connection.ts';
import { jobIdOf } from './job-id.ts';
import { MemoryShare, readMaxMemoryShare } from './redis/memory-share.ts';
import { connectionOf } from './redis/queue-connection.ts';

/** Options of {@link createBullQueue}. */
export interface BullQueueOptions extends BullConnectionOptions {
  /**
   * The part of its `maxmemory` that Redis may use after a job is added: above 0 and at most 1; 0.9 by
   * default. Beyond it `add` refuses, because workers need memory to take and to remove jobs. It applies only
   * under `maxmemory-policy noeviction` with a `maxmemory`; 1 leaves the refusal to Redis.
   */
  readonly maxMemoryShare?: number;
}

/** The options of every job. */
const JOB_OPTIONS: JobsOptions = {
  // Pauses of 10, 20, 40 … seconds, the last of 43 minutes: an hour or so in all, to outlast an outage of
  // what the handlers need. Up to half of each pause is left out at random, so that jobs that failed together
  // come apart.
  attempts: 10,
  backoff: { type: 'exponential', delay: 10_000, jitter: 0.5 },
  // A kept job would block its event, because BullMQ ignores a job whose id it has. The store remembers which
  // events were handled, and the payload is gone.
  removeOnComplete: true,
  // A job that fails for good becomes a letter. Until then, or without dead letters, it is the only copy.
  removeOnFail: false,
  stackTraceLimit: 3,
};

/** The time for which a job waits for the connection by default. */
const WAIT_MS = 5_000;

/** The options of the queue's own connection; the user's options override them. */
const CONNECTION_OPTIONS = {
  // The queue itself lets a job wait for the connection: ioredis may send a queued command after its caller
  // has given up.
  enableOfflineQueue: false,
  // BullMQ's first command is sent again until it is answered. If ioredis gave it up, the queue would refuse
  // every job until the process ends.
  maxRetriesPerRequest: null,
  // The default of BullMQ is a second at least, and 20 seconds in a long outage.
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
  const readiness = Readiness.of(connectionOfIoredis(connectionOf(bull)));
  const memory = new MemoryShare(bull, maxMemoryShare);
  let closed: Promise<void> | undefined;
  return {
    add: (job, { waitMs = WAIT_MS } = {}) => {
      // The job's toJSON makes the JSON.
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
