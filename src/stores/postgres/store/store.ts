import type { Store } from '../../../receiver/dedupe/store.ts';
import { readServerOptions } from '../../kit/server-options.ts';
import { createServerStore } from '../../kit/server-store.ts';
import { checkPool, type PostgresPool, readSchema } from '../client.ts';
import { PostgresOperations } from './operations.ts';

/** Options of {@link createPostgresStore}. */
export interface PostgresStoreOptions {
  /**
   * Names the application and its environment, for example `billing-production`: 1 to 64 letters, digits,
   * `.`, `_` or `-`. It is part of every key; receivers with the same scope share their ids.
   */
  readonly scope: string;
  /** The schema of the tables; `posthorn` by default. */
  readonly schema?: string | undefined;
  /**
   * The time after which an operation counts as failed, in milliseconds; 2,000 by default. For a
   * claim it counts from when the pool has a client for it.
   */
  readonly commandTimeoutMs?: number | undefined;
}

/**
 * Keeps event ids in PostgreSQL, so that several processes share them. The pool is one of pg 8; closing it,
 * and listening to its `error` event, is up to you. `migratePostgres` creates the tables. Each operation is
 * one call of a function in the database, and operations that wait at the same time share a statement. An
 * operation rejects with UnavailableError (`store_unavailable`) if PostgreSQL refuses, fails or is late, or
 * if the pool has no client in time; if the tables are missing the message says so. A claim may wait for a
 * client for its `waitMs`, if that is longer. Expired ids are deleted in small batches, now and then after an
 * operation.
 *
 * @throws ConfigurationError if the pool is not one of pg, and for a wrong or missing option.
 *
 * @example
 * ```ts
 * import { Pool } from 'pg';
 * import { createReceiver } from 'posthorn';
 * import { createPostgresStore, migratePostgres } from 'posthorn/postgres';
 *
 * const pool = new Pool({ connectionString: process.env.POSTGRES_URL });
 * pool.on('error', (error) => console.error('postgres:', error.message));
 * await migratePostgres(pool);
 * const store = createPostgresStore(pool, { scope: 'billing-production' });
 * const receiver = createReceiver({ signingKey, store });
 * ```
 */
export function createPostgresStore(pool: PostgresPool, options: PostgresStoreOptions): Store {
  checkPool('createPostgresStore', pool);
  const names = ['scope', 'schema', 'commandTimeoutMs'];
  const { scope, commandTimeoutMs } = readServerOptions('createPostgresStore', options, 2_000, names);
  const schema = readSchema('createPostgresStore', options.schema);
  const operations = new PostgresOperations(pool, { scope, schema, limitMs: commandTimeoutMs });
  return createServerStore({
    name: 'PostgreSQL',
    commandTimeoutMs,
    run: (operation) => operations.run(operation),
    queuesClaims: true,
  });
}
