import { checkOptions, readDuration } from '../check-options.ts';
import type { ClaimResult, CompleteResult, ReleaseResult, RenewResult, Store } from '../dedupe/store.ts';
import { toKey } from '../dedupe/store.ts';
import { checkPool, type PostgresPool, readSchema, readScope } from './client.ts';
import { PostgresOperations } from './store-operations.ts';

/** Options of {@link createPostgresStore}. */
export interface PostgresStoreOptions {
  /**
   * Names the application and its environment, for example `billing-production`: 1 to 64 letters, digits,
   * `.`, `_` or `-`. It is part of every key; receivers with the same scope share their ids.
   */
  readonly scope: string;
  /** The schema of the tables; `posthorn` by default. */
  readonly schema?: string;
  /** How long one operation may take before it counts as failed, in milliseconds; 2,000 by default. */
  readonly commandTimeoutMs?: number;
}

/**
 * Keeps event ids in PostgreSQL, so that several processes share them. The pool is one of pg 8; closing it,
 * and listening to its `error` event, is up to you. `migratePostgres` creates the tables. Each operation is
 * one call of a function in the database, and operations that wait at the same time share a statement. An
 * operation rejects with UnavailableError (`store_unavailable`) if PostgreSQL refuses, fails or is late, or
 * if the pool has no client in time; where the tables are missing the message says so. Expired ids are
 * deleted in small batches, now and then after an operation.
 *
 * @throws ConfigurationError if the pool is not one of pg, and for a wrong or missing option.
 *
 * @example
 * ```ts
 * const pool = new Pool({ connectionString: process.env.POSTGRES_URL });
 * pool.on('error', (error) => console.error('postgres:', error.message));
 * await migratePostgres(pool);
 * const store = createPostgresStore(pool, { scope: 'billing-production' });
 * const receiver = createReceiver({ signingKey, store });
 * ```
 */
export function createPostgresStore(pool: PostgresPool, options: PostgresStoreOptions): Store {
  checkPool('createPostgresStore', pool);
  checkOptions(options, ['scope', 'schema', 'commandTimeoutMs'], 'createPostgresStore');
  const commandTimeoutMs = readDuration('commandTimeoutMs', options.commandTimeoutMs, 2_000);
  const operations = new PostgresOperations(pool, {
    scope: readScope('createPostgresStore', options.scope),
    schema: readSchema('createPostgresStore', options.schema),
    limitMs: commandTimeoutMs,
  });
  return {
    commandTimeoutMs,
    claim: ({ id, token, leaseMs, retentionMs, attemptSpacingMs = 0 }) =>
      operations.run(
        {
          name: 'claim',
          key: toKey(id),
          token,
          leaseMs,
          retentionMs: boundedMs(Math.max(leaseMs, retentionMs)),
          detail: String(attemptSpacingMs),
        },
        readClaim,
      ),
    renew: ({ id, token, leaseMs, retentionMs }) =>
      operations.run(
        {
          name: 'renew',
          key: toKey(id),
          token,
          leaseMs,
          retentionMs: boundedMs(Math.max(leaseMs, retentionMs)),
          detail: '',
        },
        (result) => ({ state: readState(result, renewals) }),
      ),
    complete: ({ id, token, retentionMs }) =>
      operations.run(
        {
          name: 'complete',
          key: toKey(id),
          token,
          leaseMs: 0,
          retentionMs: boundedMs(retentionMs),
          detail: '',
        },
        (result) => ({ state: readState(result, completions) }),
      ),
    release: ({ id, token, retentionMs, handled }) =>
      operations.run(
        {
          name: 'release',
          key: toKey(id),
          token,
          leaseMs: 0,
          retentionMs: boundedMs(retentionMs),
          detail: handled.length === 0 ? '' : JSON.stringify(handled),
        },
        (result) => ({ state: readState(result, releases) }),
      ),
  };
}

/** A thousand years. The times of PostgreSQL end at some point. */
const LONGEST_RETENTION_MS = 31_556_952_000_000;

function boundedMs(retentionMs: number): number {
  return Math.min(retentionMs, LONGEST_RETENTION_MS);
}

function readClaim(result: string): ClaimResult {
  if (result === 'completed') return { state: 'completed' };
  const [state, ...details] = result.split(' ', 5);
  const [first, abandoned, firstClaimedMsAgo, spacedAttempts] = details.map(Number);
  if (state === 'busy' && first !== undefined) return { state, msLeft: first };
  if (state !== 'claimed' || spacedAttempts === undefined) throw unknownResult(result);
  return {
    state,
    attempt: first ?? 1,
    abandoned: abandoned ?? 0,
    firstClaimedMsAgo: firstClaimedMsAgo ?? 0,
    spacedAttempts,
    handled: readNames(result.slice([state, ...details, ''].join(' ').length)),
  };
}

/** Reads the list of handlers that a release has stored. */
function readNames(text: string): string[] {
  return text === '' ? [] : JSON.parse(text);
}

const renewals: readonly RenewResult['state'][] = ['held', 'lost', 'completed'];
const completions: readonly CompleteResult['state'][] = ['completed'];
const releases: readonly ReleaseResult['state'][] = ['released', 'lost', 'completed'];

function readState<State extends string>(result: string, states: readonly State[]): State {
  const state = states.find((candidate) => candidate === result);
  if (state === undefined) throw unknownResult(result);
  return state;
}

function unknownResult(result: string): Error {
  return new Error(`PostgreSQL gave an unknown result: ${JSON.stringify(result)}`);
}
