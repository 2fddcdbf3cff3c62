// The receiver that server.ts and worker.ts share. Its ids, its dead letters and its queue are in PostgreSQL.
// POSTGRES_URL is the address: see docs/queue.md.

import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'pg';
import { createReceiver, type Queue, type Receiver } from 'posthorn';
import { type BullQueueOptions, createBullQueue, migrateBullQueue } from 'posthorn/bullmq';
import { createPostgresDeadLetters, createPostgresStore, migratePostgres } from 'posthorn/postgres';
import { authentication, printEvent, signingKey } from '../environment.ts';

const connection = {
  connectionString: process.env.POSTGRES_URL ?? 'postgres://postgres@127.0.0.1/postgres',
  connectionTimeoutMillis: 5_000,
  keepAlive: true,
};
const pool = new Pool(connection);
pool.on('error', (error) => console.error(`postgres: ${error.message}`));
// For the queue alone: the tables of the application are not in the schema of the queue.
const queuePool = new Pool({ ...connection, options: '-c search_path=bullmq -c statement_timeout=9s' });
queuePool.on('error', (error) => console.error(`postgres of the queue: ${error.message}`));
await migratePostgres(pool);
await migrateBullQueue(pool); // which may take longer than a statement of the queue

const scope = 'example-development';

/** The place of the queue, for the worker as well. */
export const place: BullQueueOptions = { backend: 'postgres', connection: queuePool, scope };

export const queue: Queue = createBullQueue(place);

export const receiver: Receiver = createReceiver({
  signingKey,
  authentication,
  store: createPostgresStore(pool, { scope }),
  deadLetters: createPostgresDeadLetters(pool, { scope }),
  queue,
}).on(
  '*',
  async (event, { signal }) => {
    await sleep(1_000, undefined, { signal }); // longer work would exceed the service's time limit
    printEvent(event);
  },
  { name: 'print', queue: true },
);
