import { performance } from '../../../receiver/timing/process-clock.ts';
import { committedByHandler } from '../../kit/inbox/inbox-error.ts';
import type { RecordKey } from '../../kit/inbox/once.ts';
import { columnOf, type PostgresPool } from '../client.ts';
import { type PostgresConnection, withClient } from '../connection.ts';
import { DURABLE_COMMIT } from '../durable-commit.ts';
import { IN_FAILED_TRANSACTION, sqlStateOf } from '../errors.ts';
import { GRACE_MS } from './time-limits.ts';

/** The statements that write a record, in one schema. */
export interface RecordStatements {
  /** The name of the schema, quoted. */
  readonly schema: string;
  /** The parameters are those of the function `record_ranked`. Gives `recorded`. */
  readonly record: string;
  /**
   * BEGIN and the same statement in one message, which saves a round trip. Only a message without parameters
   * can have several statements, so the values are in the text.
   */
  readonly beginAndRecord: (values: readonly (string | null)[]) => string;
}

/** The statements for a schema, whose name is quoted. */
export function recordStatements(schema: string): RecordStatements {
  const select = (values: string): string =>
    `select ${schema}.record_ranked(${values}) as recorded, ${DURABLE_COMMIT}`;
  return {
    schema,
    // The values are sent as texts. As a time, postgres.js would cut them down to milliseconds.
    record: select('$1, $2, $3, $4, $5, $6::text::timestamptz, $7::text::bigint'),
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

/** Finds one record. */
export const IS_RECORD = 'scope = $1 and event_key = $2 and handler = $3';

/** The parameters of {@link IS_RECORD}. */
function valuesOf({ scope, eventKey, handler }: RecordKey): unknown[] {
  return [scope, eventKey, handler];
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
        `delete from ${statements.schema}.inbox where ${IS_RECORD}`,
        valuesOf(this.#key),
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
    const { statements } = this.#key;
    const xact = 'pg_current_xact_id_if_assigned()::xid::text';
    const result = await this.#connection.query(
      `with restored as (
  insert into ${statements.schema}.inbox (scope, event_key, handler)
  select $1, $2, $3 where ${xact} = $4 on conflict do nothing
)
select ${xact} as xact`,
      [...valuesOf(this.#key), this.#xact],
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
      ? `. PostgreSQL did not answer: before a replay, look for the record in ${key.statements.schema}.inbox as well`
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
  // The status needs 64 bits: the upper half is that of the current transaction, or one less.
  const text = `with taken_back as (
  delete from ${key.statements.schema}.inbox where ${IS_RECORD} and xmin::text = $4::text
), present as (
  select pg_current_xact_id()::text::bigint as xact
)
select pg_xact_status((xact - ((xact - $4::text::bigint) & 4294967295))::text::xid8) as status, ${DURABLE_COMMIT}
from present`;
  const endsAt = performance.now() + GRACE_MS;
  const values = [...valuesOf(key), xact];
  return columnOf(await withClient(pool, endsAt, (connection) => connection.query(text, values)), 'status');
}
