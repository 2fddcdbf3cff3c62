import { checkBegun, type NotAGenerator } from '../../../receiver/checks/called-functions.ts';
import { checkOptions, readScope } from '../../../receiver/checks/check-options.ts';
import { ConfigurationError } from '../../../receiver/errors.ts';
import type { HandlerContext } from '../../../receiver/handling/handlers/route.ts';
import { show } from '../../../receiver/values/foreign-values.ts';
import { HandlerNames } from '../../kit/inbox/handler-names.ts';
import { contextWith, type InboxEvent, type OnceOptions, onceHandler } from '../../kit/inbox/once.ts';
import { readAge } from '../../kit/prune-options.ts';
import { checkPool, type PostgresPool, readSchema } from '../client.ts';
import { type BeginTransaction, commitByOtherClient } from './commit-by-other-client.ts';
import { commitInPool } from './commit-in-pool.ts';
import { hasRecord } from './find-record.ts';
import type { PostgresTransaction } from './handler-transaction.ts';
import { prune } from './prune.ts';
import { recordStatements, rerunStatements } from './record.ts';
import { type InboxRun, type RunTransaction, runOnce } from './run.ts';
import { RunsInPool } from './runs-in-pool.ts';
import { RunLimits } from './time-limits.ts';

/** Options of {@link createPostgresInbox}. */
export interface PostgresInboxOptions<Tx> {
  /**
   * Names the application and its environment, for example `billing-production`: 1 to 64 letters, digits,
   * `.`, `_` or `-`. Inboxes with the same scope share their records.
   */
  readonly scope: string;
  /** The schema of the tables; `posthorn` by default. */
  readonly schema?: string | undefined;
  /**
   * Runs work in a transaction of another client, such as Drizzle, Knex or Prisma, on the same database. By
   * default handlers get a transaction on a client of the pool.
   */
  readonly begin?: BeginTransaction<Tx> | undefined;
}

/** The context of a handler of an inbox. */
export interface InboxContext<Tx> extends HandlerContext {
  /** Its writes are committed together with the record that this handler has handled the event. */
  readonly transaction: Tx;
}

/** Ties what handlers write in PostgreSQL to the record that they have handled an event. */
export interface PostgresInbox<Tx = PostgresTransaction> {
  /**
   * Makes a handler for `receiver.on`, which registers it by this name. In one transaction it writes the
   * record that `name` has handled the event, runs `handler`, and commits. If the record is there already,
   * nothing is run. `handler` runs again, in another transaction, after a serialization failure or a
   * deadlock: only what the last run has written stays, so a handler should have no other effects.
   *
   * A name stands for one function in a receiver: `on` throws for a second one. If another receiver of the
   * process registers a different function under it, a report warns once (`inbox_name_shared`), because
   * each skips the events that the other has handled.
   *
   * @throws ConfigurationError for a name that is not a text of 1 to 100 characters. The handler rejects with
   * InboxError, with what `handler` threw, or with the signal's reason.
   *
   * @example
   * ```ts
   * receiver.on('transfer.succeeded', inbox.once('book', async (event, { transaction }) => {
   *   await transaction.query('insert into ledger (event_id) values ($1)', [event.id]);
   * }));
   * ```
   */
  once<Event = InboxEvent, Result = unknown>(
    name: string,
    handler: (event: Event, context: InboxContext<Tx>) => Result & NotAGenerator<Result>,
    options?: OnceOptions<Event>,
  ): (event: Event, context: HandlerContext) => Promise<unknown>;

  /**
   * Deletes the records of events that were handled longer ago than this, in batches; resolves with their
   * number. An event whose record is gone runs again if it comes again, or if its dead letter is replayed.
   * Records of reruns are deleted by their own age, and count. The keys that `latest` remembers stay.
   *
   * @throws ConfigurationError for a wrong option; whatever PostgreSQL refuses.
   */
  prune(options: { readonly olderThanMs: number }): Promise<number>;
}

/**
 * Creates an inbox: the rows that a handler writes in PostgreSQL are committed exactly once, even if the
 * store of the receiver has forgotten the event. Its tables are those of `migratePostgres`. The pool is one
 * of `pg` 8, and closing it is up to you; handlers of inboxes take all of its connections but a few, so it
 * should have two or more.
 *
 * @throws ConfigurationError if the pool is not one of pg, and for a wrong or missing option.
 *
 * @example
 * ```ts
 * import { Pool } from 'pg';
 * import { createPostgresInbox } from 'posthorn/postgres';
 *
 * const inbox = createPostgresInbox(new Pool(), { scope: 'billing-production' });
 * ```
 */
export function createPostgresInbox<Tx = PostgresTransaction>(
  pool: PostgresPool,
  options: PostgresInboxOptions<Tx> & { readonly begin: BeginTransaction<Tx> },
): PostgresInbox<Tx>;
/** Creates an inbox without `begin`: handlers get a transaction on a client of the pool. */
export function createPostgresInbox(
  pool: PostgresPool,
  options: Omit<PostgresInboxOptions<PostgresTransaction>, 'begin'>,
): PostgresInbox;
export function createPostgresInbox<Tx>(
  pool: PostgresPool,
  options: PostgresInboxOptions<Tx>,
): PostgresInbox<Tx> | PostgresInbox {
  checkPool('createPostgresInbox', pool);
  checkOptions(options, ['scope', 'schema', 'begin'], 'createPostgresInbox');
  const scope = readScope('createPostgresInbox', options.scope);
  const schema = readSchema('createPostgresInbox', options.schema);
  const { begin } = options;
  if (begin === undefined) return createInbox(pool, scope, schema, commitInPool(pool));
  if (typeof begin !== 'function') {
    throw new ConfigurationError(`begin of createPostgresInbox must be a function, got ${show(begin)}`);
  }
  return createInbox(pool, scope, schema, commitByOtherClient(begin, pool));
}

function createInbox<Tx>(
  pool: PostgresPool,
  scope: string,
  schema: string,
  runTransaction: RunTransaction<Tx>,
): PostgresInbox<Tx> {
  const firstRuns = recordStatements(schema);
  const reruns = rerunStatements(schema);
  const runsInPool = RunsInPool.of(pool);
  const names = HandlerNames.of(pool, schema, scope);
  return {
    once: (name, handler, options = {}) =>
      onceHandler(
        { scope, names, name, handler, options },
        async (once, event, context) => {
          const limits = new RunLimits(context);
          const idleMs = longestIdleMs(context);
          const statements = once.rerun === undefined ? firstRuns : reruns;
          const run: InboxRun = { eventId: context.event.id, statements, limits, idleMs, ...once };
          const handle = async (transaction: Tx): Promise<unknown> =>
            checkBegun(await handler(event, contextWith(context, { transaction })));
          try {
            return await runOnce(run, runsInPool, (progress) => runTransaction(run, progress, handle));
          } finally {
            limits.end();
          }
        },
        (key) => hasRecord(pool, schema, key),
      ),

    prune: async (options) => prune(pool, schema, scope, readAge(options)),
  };
}

const MAX_IDLE_MS = 30_000;
const MIN_IDLE_MS = 1_000;

/**
 * Returns the time after which PostgreSQL ends an idle transaction, so that a frozen process loses its row:
 * the time from the arrival to the deadline, but 1 to 30 seconds.
 */
function longestIdleMs({ deadlineAt, receivedAt }: HandlerContext): number {
  return Math.min(Math.max(deadlineAt - receivedAt, MIN_IDLE_MS), MAX_IDLE_MS);
}
