import { Queue as BullQueue, Worker as BullWorker, createPostgresBackend } from 'bullmq';
import type { QueueServer } from '../server.ts';
import { BackendPool } from './backend-pool.ts';
import { QueueDatabase } from './database.ts';
import type { QueuePool } from './pool.ts';

/** Connects a worker to PostgreSQL. The worker's statements wait while the database is away. */
export function postgresServer(
  pool: QueuePool,
  scope: string,
  logError: (error: unknown) => void,
): QueueServer {
  const database = new QueueDatabase(pool, logError);
  const connection = new BackendPool(database, (text, values) => database.runUntilAnswered(text, values));
  return {
    openFailedJobs: () => new BullQueue(scope, { connection }, createPostgresBackend),
    openWorker: (run, options) =>
      new BullWorker(scope, run, { ...options, connection }, createPostgresBackend),
    // BullMQ then ends its worker by itself. If it were disconnected, its timers would go on.
    cutOff: () => database.close(),
    endWaits: () => database.close(),
  };
}
