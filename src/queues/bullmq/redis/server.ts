import { Queue as BullQueue, Worker as BullWorker } from 'bullmq';
import { type BullConnectionOptions, disconnect, KEY_PREFIX } from '../connection.ts';
import type { QueueServer } from '../server.ts';

/** Connects a worker to Redis. */
export function redisServer({ connection, scope }: BullConnectionOptions): QueueServer {
  const own = { connection, prefix: KEY_PREFIX };
  return {
    openFailedJobs: () => new BullQueue(scope, own),
    openWorker: (run, options) => new BullWorker(scope, run, { ...own, ...options }),
    cutOff: disconnect,
    endWaits: () => {},
  };
}
