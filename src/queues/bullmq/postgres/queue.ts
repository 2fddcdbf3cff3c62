import { Queue as BullQueue, createPostgresBackend } from 'bullmq';
import type { Queue } from '../../../receiver/queue/queue.ts';
import { Readiness } from '../../../stores/kit/readiness.ts';
import { closeInTime, connectionLog } from '../connection.ts';
import { jobIdOf } from '../job-id.ts';
import { JOB_OPTIONS, WAIT_MS } from '../job-options.ts';
import { toPostgresJson, toPostgresText } from '../stored-data.ts';
import { BackendPool } from './backend-pool.ts';
import { QueueDatabase } from './database.ts';
import type { QueuePool } from './pool.ts';

/** Creates a queue in PostgreSQL. */
export function createPostgresQueue(pool: QueuePool, scope: string): Queue {
  const log = connectionLog(`the queue ${scope}`);
  const database = new QueueDatabase(pool, log);
  const readiness = Readiness.of(database);
  // The job itself waits for the connection, so its statement does not wait too.
  const connection = new BackendPool(database, (text, values) => database.run(text, values));
  const bull = new BullQueue(scope, { connection, defaultJobOptions: JOB_OPTIONS }, createPostgresBackend);
  bull.on('error', log);
  let closed: Promise<void> | undefined;
  return {
    add: (job, { waitMs = WAIT_MS } = {}) => {
      const options = { jobId: jobIdOf(job.id) };
      const send = (): Promise<unknown> => bull.add(toPostgresText(job.type), toPostgresJson(job), options);
      // The wait ends before the receiver gives up, so that the receiver learns the reason.
      return readiness.send(send, 0.95 * waitMs);
    },
    mustWait: () => !readiness.isReady,
    close: () => {
      closed ??= closeInTime(bull, () => database.close()).finally(() => database.close());
      return closed;
    },
  };
}
