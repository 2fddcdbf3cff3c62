import { Queue as BullQueue } from 'bullmq';
import type { Queue } from '../../../receiver/queue/queue.ts';
import { Readiness } from '../../../stores/kit/readiness.ts';
import { connectionOfIoredis } from '../../../stores/redis/clients/ioredis.ts';
import {
  type BullConnectionOptions,
  closeInTime,
  connectionLog,
  disconnect,
  isClient,
  KEY_PREFIX,
} from '../connection.ts';
import { jobIdOf } from '../job-id.ts';
import { JOB_OPTIONS, WAIT_MS } from '../job-options.ts';
import { MemoryShare } from './memory-share.ts';
import { connectionOf } from './queue-connection.ts';

/** The options of the queue's own connection; the user's options override them. */
const CONNECTION_OPTIONS = {
  // The queue itself lets a job wait for the connection, because ioredis may send a queued command after its
  // caller has given up.
  enableOfflineQueue: false,
  // BullMQ's first command is sent again until it is answered. If ioredis gave it up, the queue would refuse
  // every job until the process ends.
  maxRetriesPerRequest: null,
  // The default of BullMQ is a second at least, and 20 seconds in a long outage.
  retryStrategy: (times: number): number => Math.min(times * 20, 1_000),
};

/** Creates a queue in Redis. */
export function createRedisQueue(
  { connection, scope }: BullConnectionOptions,
  maxMemoryShare: number,
): Queue {
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
      closed ??= closeInTime(bull, disconnect);
      return closed;
    },
  };
}
