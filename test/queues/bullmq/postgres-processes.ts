import { Queue as BullQueue, createPostgresBackend } from 'bullmq';
import type { Pool } from 'pg';
import { createReceiver, type Receiver } from 'posthorn';
import { createBullQueue, migrateBullQueue } from 'posthorn/bullmq';
import { createPostgresDeadLetters, createPostgresStore, migratePostgres } from 'posthorn/postgres';
import { onTestFinished } from 'vitest';
import type { Fixture } from '../../stores/postgres/fixture.ts';
import { closedAtEnd } from '../../support/closed-at-end.ts';
import { ampleDeadlines, ampleTime } from '../../support/limits.ts';
import { KEY } from '../../support/served.ts';
import { promoteDelayed } from './postgres-queue-server.ts';
import { launchProcesses, type ProcessOptions } from './processes.ts';

let scopes = 0;

interface PostgresProcessOptions extends ProcessOptions {
  readonly postgres?: { readonly port: number };
}

/** A pool of a queue. */
export function queuePool(fixture: Pick<Fixture, 'connect'>, port: number): Pool {
  return fixture.connect({ port, options: '-c search_path=bullmq' });
}

/** The stalls of a queue, by a pool that finds its tables. */
export function stallsOf(connection: Pool, scope: string) {
  return {
    /**
     * Has the queue look for stalled jobs: it marks active ones, and moves marked ones whose lock has run
     * out.
     */
    lookForStalled: async (): Promise<void> => {
      await connection.query(
        'select move_stalled_jobs_to_wait($1, 2147483647, (extract(epoch from now()) * 1000)::bigint, 0)',
        [scope],
      );
    },
    /** Lets the locks run out of active jobs that have run for so long, all by default. */
    loseLocks: async (leastMs = 0): Promise<void> => {
      await connection.query(
        `update job set locked_until_ms = 0 where queue = $1 and state = 'active'
          and processed_at_ms <= (extract(epoch from now()) * 1000)::bigint - $2`,
        [scope, leastMs],
      );
    },
  };
}

/** Receivers and workers in processes of their own, on one queue in PostgreSQL, with the store beside it. */
export async function openPostgresProcesses(
  fixture: Fixture,
  { postgres = fixture.postgres, ...options }: PostgresProcessOptions = {},
) {
  scopes += 1;
  const scope = `processes-${scopes}`;
  const { port } = postgres;
  const pool = fixture.connect({ port });
  await migratePostgres(pool);
  await migrateBullQueue(pool);
  const connection = queuePool(fixture, port);
  const deadLetters = createPostgresDeadLetters(pool, { scope });
  const queue = closedAtEnd(createBullQueue({ backend: 'postgres', connection, scope }));
  /** The queue as BullMQ sees it. */
  const bull = new BullQueue(scope, { connection }, createPostgresBackend);
  bull.on('error', () => {});
  onTestFinished(() => bull.close());
  /** A receiver in this process. */
  const receiver = (register: (receiver: Receiver) => unknown): Receiver => {
    const store = createPostgresStore(pool, { scope, ...ampleTime });
    const created = createReceiver({ signingKey: KEY, queue, store, deadLetters, ...ampleDeadlines });
    register(created.observe(() => {}));
    return closedAtEnd(created);
  };
  const { lookForStalled, loseLocks } = stallsOf(connection, scope);
  /** As if the workers of the active jobs had been frozen for as long as their locks last. */
  const stallActive = async (): Promise<void> => {
    for (let look = 0; look < 2; look += 1) {
      await loseLocks();
      await lookForStalled();
    }
  };
  /** Lets delayed jobs come at once. */
  const promote = (): Promise<void> => promoteDelayed(connection, scope);
  return {
    bull,
    connection,
    deadLetters,
    lookForStalled,
    loseLocks,
    promote,
    receiver,
    scope,
    stallActive,
    ...launchProcesses({ POSTGRES_PORT: String(port) }, scope, options),
  };
}
