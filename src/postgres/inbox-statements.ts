import { propertyOf } from '../errors.ts';

/** Runs one statement in a transaction; its parameters are `$1`, `$2`, …, each used once and in order. */
export type InboxQuery = (text: string, values: unknown[]) => Promise<unknown>;

/** The statements of the inbox in one schema. */
export interface InboxStatements {
  /** The name of the schema, quoted. */
  readonly schema: string;
  /** `$1` scope, `$2` event, `$3` handler. Gives `inserted` and `xact`, the number of the transaction. */
  readonly insert: string;
  /** The same for a handler with `latest`, whose `guard` comes next and must not wait for long either. */
  readonly insertBeforeGuard: string;
  /** `$1` scope, `$2` handler, `$3` key, `$4` created_at. Gives `newest`: 1, or 0 for an older event. */
  readonly guard: string;
  /** `$1` scope, `$2` and `$3` the last row of the batch before, `$4` the age in milliseconds. */
  readonly prune: string;
}

/**
 * How long a run waits for the row that another run holds before it gives its connection back. Short, because
 * runs that wait would otherwise take the connections of those that could go on.
 */
const LOCK_TIMEOUT_MS = 100;

/** Rows that `prune` looks at in one statement. */
export const PRUNE_BATCH_SIZE: number = 5_000;

/** The setting that keeps the caller's own `lock_timeout` for the handler. It ends with the transaction. */
const OWN_LOCK_TIMEOUT = 'posthorn.lock_timeout';

/**
 * The first statement of a transaction. `set_config(…, true)` is SET LOCAL. Gives `pid`, the process of
 * PostgreSQL that runs the transaction: behind PgBouncer the client knows another number.
 */
export function setUpStatement(idleMs: number): string {
  return `with own as materialized (select current_setting('lock_timeout') as lock_timeout)
select pg_backend_pid() as pid,
  set_config('${OWN_LOCK_TIMEOUT}', own.lock_timeout, true),
  set_config('lock_timeout', '${LOCK_TIMEOUT_MS}ms', true),
  set_config('idle_in_transaction_session_timeout', '${idleMs}ms', true)
from own`;
}

/** Gives `own`, which is set only in the transaction that was set up, and `xact`, its number. */
export const PROBE: string = `select current_setting('${OWN_LOCK_TIMEOUT}', true) as own,
  pg_current_xact_id_if_assigned()::text as xact`;

/** Gives the handler's statements the `lock_timeout` that they would have without the inbox. */
const RESTORE = `set_config('lock_timeout', current_setting('${OWN_LOCK_TIMEOUT}'), true)`;

/** The statements for a schema, whose name is quoted. */
export function inboxStatements(schema: string): InboxStatements {
  const insert = (more: string): string => `with mark as (
  insert into ${schema}.inbox (scope, event_key, handler) values ($1, $2, $3)
  on conflict do nothing returning 1
)
select count(*)::int as inserted, pg_current_xact_id_if_assigned()::text as xact${more} from mark`;
  return {
    schema,
    insert: insert(`, ${RESTORE}`),
    insertBeforeGuard: insert(''),
    // A row that the condition leaves out is locked all the same.
    guard: `with guard as (
  insert into ${schema}.inbox_latest as latest (scope, handler, key, created_at) values ($1, $2, $3, $4)
  on conflict (scope, handler, key) do update set created_at = excluded.created_at
  where excluded.created_at >= latest.created_at returning 1
)
select count(*)::int as newest, ${RESTORE} from guard`,
    prune: `with batch as (
  select scope, event_key, handler, handled_at from ${schema}.inbox
  where scope = $1 and (event_key, handler) > ($2, $3)
  order by scope, event_key, handler limit ${PRUNE_BATCH_SIZE}
), gone as (
  delete from ${schema}.inbox using batch
  where inbox.scope = batch.scope and inbox.event_key = batch.event_key and inbox.handler = batch.handler
    and batch.handled_at < now() - $4 * interval '1 millisecond' returning 1
)
select event_key, handler, (select count(*) from gone)::int as deleted,
  (select count(*) from batch)::int as looked_at
from batch order by event_key desc, handler desc limit 1`,
  };
}

/** A column of the first row: of a result of `pg`, or of a list of rows, which other clients give. */
export function columnOf(result: unknown, column: string): unknown {
  const rows = Array.isArray(result) ? result : propertyOf(result, 'rows');
  return propertyOf(propertyOf(rows, 0), column);
}
