import { propertyOf } from '../errors.ts';

/** Runs one statement in a transaction; its parameters are `$1`, `$2`, …, each used once and in order. */
export type InboxQuery = (text: string, values: unknown[]) => Promise<unknown>;

/** The statements of the inbox in one schema. */
export interface InboxStatements {
  /** The name of the schema, quoted. */
  readonly schema: string;
  /** The parameters are those of the function `record_handled`. Gives `recorded`. */
  readonly record: string;
  /** `$1` scope, `$2` and `$3` the last row of the batch before, `$4` the age in milliseconds. */
  readonly prune: string;
}

/** Rows that `prune` looks at in one statement. */
export const PRUNE_BATCH_SIZE: number = 5_000;

/** The statements for a schema, whose name is quoted. */
export function inboxStatements(schema: string): InboxStatements {
  return {
    schema,
    record: `select ${schema}.record_handled($1, $2, $3, $4, $5, $6) as recorded`,
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
 * Puts the values in the place of the parameters, because only a message without parameters can have several
 * statements. Values are texts without NUL, or null; of what is written, nothing but the quotes around them
 * can end a literal, whatever the settings of the session are.
 */
export function withLiterals(text: string, values: readonly unknown[]): string {
  return text.replace(/\$(\d+)/g, (_parameter, number: string) => literalOf(values[Number(number) - 1]));
}

function literalOf(value: unknown): string {
  if (value === null) return 'null';
  const toEscape = (character: string): string =>
    `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  // Without the flag `u`: half of a surrogate pair is a character, as it is for PostgreSQL.
  return `E'${String(value).replace(/[^A-Za-z0-9_.:-]/g, toEscape)}'`;
}

/** A column of the first row: of a result of `pg`, or of a list of rows, which other clients give. */
export function columnOf(result: unknown, column: string): unknown {
  const rows = Array.isArray(result) ? result : propertyOf(result, 'rows');
  return propertyOf(propertyOf(rows, 0), column);
}
