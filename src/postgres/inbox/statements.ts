import { propertyOf } from '../../foreign-values.ts';
import { DURABLE_COMMIT } from '../durable-commit.ts';

/** Runs one statement in a transaction; its parameters are `$1`, `$2`, …, each used once and in order. */
export type InboxQuery = (text: string, values: unknown[]) => Promise<unknown>;

/** The statements of the inbox in one schema. */
export interface InboxStatements {
  /** The name of the schema, quoted. */
  readonly schema: string;
  /** The parameters are those of the function `record_ranked`. Gives `recorded`. */
  readonly record: string;
  /**
   * BEGIN, and the same record, in one message: a transaction that is written by hand takes one more. Only a
   * message without parameters can have several statements, so the values are in the text.
   */
  readonly beginAndRecord: (values: readonly (string | null)[]) => string;
  /** `$1` scope, `$2` and `$3` the last row of the batch before, `$4` the age in milliseconds. */
  readonly prune: string;
}

/** Rows that `prune` looks at in one statement. */
export const PRUNE_BATCH_SIZE: number = 5_000;

/** The statements for a schema, whose name is quoted. */
export function inboxStatements(schema: string): InboxStatements {
  return {
    schema,
    record: `select ${schema}.record_ranked($1, $2, $3, $4, $5, $6, $7) as recorded, ${DURABLE_COMMIT}`,
    beginAndRecord: (values) =>
      `begin; select ${schema}.record_ranked(${values.map(literalOf).join(', ')}) as recorded, ${DURABLE_COMMIT}`,
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

/** Marks a transaction: the mark ends with it. */
export const MARK = `select set_config('posthorn.transaction', 'begun', true)`;

/** Gives `mark`, which is `begun` in a marked transaction only, and `xact`, the number of the transaction. */
export const PROBE: string = `select current_setting('posthorn.transaction', true) as mark,
  pg_current_xact_id_if_assigned()::xid::text as xact`;

/** Cancels what a transaction runs. Once that has ended, nobody holds the lock of its number. */
export const CANCEL: string = `select pg_cancel_backend(pid) from pg_locks
  where locktype = 'transactionid' and mode = 'ExclusiveLock' and granted and transactionid = $1::xid`;

/**
 * The value as SQL: a text without NUL, or null. Of what is written, nothing but the quotes around it can end
 * the literal, whatever the settings of the session are.
 */
function literalOf(value: string | null): string {
  if (value === null) return 'null';
  // Without the flag `u`: half of a surrogate pair is a character, as it is for PostgreSQL.
  return `E'${value.replace(/[^A-Za-z0-9_.:-]/g, toEscape)}'`;
}

function toEscape(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** A column of the first row: of a result of `pg`, or of a list of rows, which other clients give. */
export function columnOf(result: unknown, column: string): unknown {
  const rows = Array.isArray(result) ? result : propertyOf(result, 'rows');
  return propertyOf(propertyOf(rows, 0), column);
}
