import { performance } from '../../../receiver/timing/process-clock.ts';
import { committedByHandler } from '../../kit/inbox/inbox-error.ts';
import type { RecordKey } from '../../kit/inbox/once.ts';
import { columnOf, type PostgresPool } from '../client.ts';
import { type PostgresConnection, withClient } from '../connection.ts';
import { DURABLE_COMMIT } from '../durable-commit.ts';
import { IN_FAILED_TRANSACTION, sqlStateOf } from '../errors.ts';
import { GRACE_MS } from './time-limits.ts';

/** The records of one kind, in one schema, and the statement that writes one. */
export interface RecordStatements {
  /** The name of the schema, quoted. */
  readonly schema: string;
  /** The table of the records, with its schema. */
  readonly table: string;
  /** The columns of its key. {@link keyOf} has their values. */
  readonly columns: readonly string[];
  /** Finds one record. Its parameters are the values of the key. */
  readonly isRecord: string;
  /** Writes a record. The values of the key come first, then those that `record_ranked` takes after them. */
  readonly record: string;
  /**
   * BEGIN and the same statement in one message, which saves a round trip. Only a message without parameters
   * can have several statements, so the values are in the text.
   */
  readonly beginAndRecord: (values: readonly (string | null)[]) => string;
}

/** The statements for the records of events, in a schema whose name is quoted. */
export function recordStatements(schema: string): RecordStatements {
  return statementsOf(schema, 'inbox', ['scope', 'event_key', 'handler'], 'record_ranked');
}

/** The statements for the records of reruns. */
export function rerunStatements(schema: string): RecordStatements {
  return statementsOf(schema, 'inbox_reruns', ['scope', 'event_key', 'handler', 'run'], 'record_rerun');
}

function statementsOf(
  schema: string,
  table: string,
  columns: readonly string[],
  writeFunction: string,
): RecordStatements {
  const select = (values: string): string =>
    `select ${schema}.${writeFunction}(${values}) as recorded, ${DURABLE_COMMIT}`;
  const valueAt = (place: number): string => `$${place}`;
  const key = columns.map((_, index) => valueAt(index + 1));
  const [idle, latestKey, createdAt, rank] = [1, 2, 3, 4].map((place) => valueAt(columns.length + place));
  return {
    schema,
    table: `${schema}.${table}`,
    columns,
    isRecord: columns.map((column, index) => `${column} = ${key[index]}`).join(' and '),
    // The values are sent as texts. As a time, postgres.js would cut them down to milliseconds.
    record: select(
      `${key.join(', ')}, ${idle}, ${latestKey}, ${createdAt}::text::timestamptz, ${rank}::text::bigint`,
    ),
    beginAndRecord: (values) => `begin; ${select(values.map(literalOf).join(', '))}`,
  };
}

/**
 * The value as SQL: a text without NUL, or null. Every character that could end the literal is escaped, so no
 * setting of the session matters.
 */
function literalOf(value: string | null): string {
  if (value === null) return 'null';
  // Without the flag `u`: half of a surrogate pair is a character, as it is for PostgreSQL.
  return `E'${value.replace(/[^A-Za-z0-9_.:-]/g, toEscape)}'`;
}

function toEscape(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** Gives `mark`, which is `begun` in a marked transaction only, and `xact`, the number of the transaction. */
export const PROBE: string = `select current_setting('posthorn.transaction', true) as mark,
  pg_current_xact_id_if_assigned()::xid::text as xact`;

/** Names a record, in one schema. */
export interface SchemaRecordKey extends RecordKey {
  readonly statements: RecordStatements;
}

/** The values of the key of a record. */
export function keyOf({ scope, eventKey, handler, rerun }: RecordKey): string[] {
  const key = [scope, eventKey, handler];
  return rerun === undefined ? key : [...key, rerun];
}

/** The record of a handler, in the transaction in which the handler writes. */
export class TransactionRecord {
  /** A text was sent that may have ended the transaction. The record was taken out before. */
  wasWithheld = false;
  readonly #connection: PostgresConnection;
  readonly #key: SchemaRecordKey;
  /** The number of the transaction that the record was written in. */
  readonly #xact: string | undefined;

  constructor(connection: PostgresConnection, key: SchemaRecordKey, xact: string | undefined) {
    this.#connection = connection;
    this.#key = key;
    this.#xact = xact;
  }

  /**
   * Takes the record out of the transaction, before a text is sent that may commit half of the handler's
   * work: a record that came with it would say that the handler has handled the event, even if this process
   * or the server went down right then. Other runs wait all the same, because the row was inserted by a
   * transaction that has not ended.
   */
  async withhold(): Promise<void> {
    const { statements } = this.#key;
    this.wasWithheld = true;
    try {
      await this.#connection.query(
        `delete from ${statements.table} where ${statements.isRecord}`,
        keyOf(this.#key),
      );
    } catch (error) {
      // The text may begin with ROLLBACK TO. If it commits after that, the record is taken back.
      if (sqlStateOf(error) !== IN_FAILED_TRANSACTION) throw error;
    }
  }

  /** Resolves with true if the transaction is still that of the record; rejects if it has failed. */
  async isInTransaction(): Promise<boolean> {
    return columnOf(await this.#connection.query(PROBE), 'xact') === this.#xact;
  }

  /**
   * Puts the record back at the end of the handler, unless a ROLLBACK TO has done so. Not earlier: a row from
   * within a savepoint has another transaction number, and could not be taken back. Resolves with false if
   * the transaction is another one; rejects if it has failed.
   */
  async restore(): Promise<boolean> {
    if (!this.wasWithheld) return this.isInTransaction();
    const { columns, table } = this.#key.statements;
    const xact = 'pg_current_xact_id_if_assigned()::xid::text';
    const values = columns.map((_, index) => `$${index + 1}`);
    const result = await this.#connection.query(
      `with restored as (
  insert into ${table} (${columns.join(', ')})
  select ${values.join(', ')} where ${xact} = $${values.length + 1} on conflict do nothing
)
select ${xact} as xact`,
      [...keyOf(this.#key), this.#xact],
    );
    return columnOf(result, 'xact') === this.#xact;
  }
}

/** A handler that failed, and may have ended its transaction. */
export interface DoubtfulFailure {
  readonly error: unknown;
  /** The number of the transaction that the record was written in. */
  readonly xact: string | undefined;
  /** The transaction is known to have ended, but not whether by COMMIT or ROLLBACK. */
  readonly hasEnded: boolean;
}

/**
 * Takes back the record if the handler has committed it, and gives the error of the handler's failure:
 * PermanentError if something is committed, because each further run would commit it again.
 */
export async function settleFailure(
  pool: PostgresPool,
  key: SchemaRecordKey,
  { error, xact, hasEnded }: DoubtfulFailure,
): Promise<unknown> {
  const status = await takeBack(pool, key, xact).catch(() => 'unknown');
  const isCommitted = status === 'committed' || (hasEnded && status !== 'aborted');
  if (!isCommitted) return error;
  const advice =
    status === 'unknown'
      ? `. PostgreSQL did not answer: before a replay, look for the record in ${key.statements.table} as well`
      : '';
  return committedByHandler(error, advice);
}

/**
 * Deletes the record of an event, in a new transaction, if the transaction with the number `xact` has
 * committed it: other runs must not skip the event. Resolves with the state of the transaction `xact`:
 * `committed`, `aborted` or, if it was prepared, `in progress`.
 */
async function takeBack(
  pool: PostgresPool,
  key: SchemaRecordKey,
  xact: string | undefined,
): Promise<string | undefined> {
  const { isRecord, table } = key.statements;
  const values = [...keyOf(key), xact];
  const xactValue = `$${values.length}::text`;
  // The status needs 64 bits: the upper half is that of the current transaction, or one less.
  const text = `with taken_back as (
  delete from ${table} where ${isRecord} and xmin::text = ${xactValue}
), present as (
  select pg_current_xact_id()::text::bigint as xact
)
select pg_xact_status((xact - ((xact - ${xactValue}::bigint) & 4294967295))::text::xid8) as status, ${DURABLE_COMMIT}
from present`;
  const endsAt = performance.now() + GRACE_MS;
  return columnOf(await withClient(pool, endsAt, (connection) => connection.query(text, values)), 'status');
}
