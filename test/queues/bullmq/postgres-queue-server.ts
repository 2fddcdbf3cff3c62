import { Queue as BullQueue, createPostgresBackend, Worker } from 'bullmq';
import type { Pool } from 'pg';
import { migrateBullQueue } from 'posthorn/bullmq';
import { createPostgresDeadLetters, createPostgresStore } from 'posthorn/postgres';
import { beforeAll } from 'vitest';
import { type DatabaseFixture, ownParsers, useDatabase } from '../../stores/postgres/fixture.ts';
import { ampleTime } from '../../support/limits.ts';
import type { QueueServer } from './queue-server.ts';

/** By which the clients of a pool find the tables of queues. */
export const QUEUE_PATH = '-c search_path=bullmq';

interface PostgresQueueServer extends QueueServer {
  readonly options: { readonly backend: 'postgres'; readonly connection: Pool };
}

/**
 * Lets delayed jobs come at once. On PostgreSQL `promoteJobs` of BullMQ reads them first, and takes a job
 * that a worker has begun meanwhile for a delayed one: it would run twice, and come again only once its lock
 * has run out.
 */
export async function promoteDelayed(pool: Pool, scope: string): Promise<void> {
  await pool.query(
    `update job set state = 'waiting', process_at_ms = null, delay_ms = 0 where queue = $1 and state = 'delayed'`,
    [scope],
  );
  await pool.query(`select pg_notify('bullmq_jobs', $1)`, [scope]);
}

/** Makes a database for the queues of a suite. */
export function usePostgresQueueServer(): PostgresQueueServer {
  const database = useDatabase();
  beforeAll(() => migrateBullQueue(database.connect()));
  return postgresQueueServer(database);
}

/** Queues in a database that has their tables. */
export function postgresQueueServer(database: DatabaseFixture): PostgresQueueServer {
  // Each worker keeps a client.
  const pool = database.connect({ options: QUEUE_PATH, max: 20 });
  // The objects that BullMQ opens by itself listen as long as the pool lasts.
  pool.setMaxListeners(0);
  const ownPool = database.connect();
  // They have parsers of their own, which are not those of BullMQ, and find the clock of `setAhead` first.
  const options = `${QUEUE_PATH},pg_catalog`;
  const connection = database.connect({ options, max: 20, ...ownParsers });
  connection.setMaxListeners(0);
  const run = async (text: string, values: unknown[]): Promise<void> => {
    await pool.query(text, values);
  };
  return {
    options: { backend: 'postgres', connection },
    openStore: async (scope) => createPostgresStore(ownPool, { scope, ...ampleTime }),
    openDeadLetters: async (scope) => createPostgresDeadLetters(ownPool, { scope }),
    openBull: (scope) => new BullQueue(scope, { connection: pool }, createPostgresBackend),
    openBullWorker: (scope, process, options) =>
      new Worker(scope, process, { connection: pool, ...options }, createPostgresBackend),
    loseLock: (scope, jobId) =>
      run(
        'update job set lock_token = null, locked_until_ms = 0 where queue = $1 and id = $2 and state = $3',
        [scope, jobId, 'active'],
      ),
    promote: ({ name }) => promoteDelayed(pool, name),
    setAhead: async (ms) => {
      await database.sql(`create or replace function bullmq.clock_timestamp() returns timestamptz language sql
        as $$ select pg_catalog.clock_timestamp() + interval '${ms} milliseconds' $$`);
    },
    markForStalledCheck: (scope, jobId) =>
      run('update job set stalled_marked = true where queue = $1 and id = $2', [scope, jobId]),
    setCounts: (scope, jobId, { attempts, stalls }) =>
      run(
        `update job set attempts_made = coalesce($3, attempts_made), stalled_count = coalesce($4, stalled_count)
         where queue = $1 and id = $2`,
        [scope, jobId, attempts, stalls],
      ),
  };
}
