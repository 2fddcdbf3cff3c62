import type { PostgresClient } from '../client.ts';
import { IN_FAILED_TRANSACTION, sqlStateOf } from './inbox-error.ts';
import type { InboxJob } from './run.ts';
import { columnOf, PROBE } from './statements.ts';

/** The parts of a job that name a record. */
export type RecordKey = Pick<InboxJob, 'scope' | 'eventKey' | 'handler' | 'statements'>;

/** A condition on a row of the inbox. */
export const IS_RECORD = 'scope = $1 and event_key = $2 and handler = $3';

/** The record of a handler, in the transaction in which the handler writes. */
export class TransactionRecord {
  /** A text was sent that may have ended the transaction. The record was taken out before. */
  wasWithheld = false;
  readonly #client: PostgresClient;
  readonly #key: RecordKey;
  /** The number of the transaction that the record was written in. */
  readonly #xact: unknown;

  constructor(client: PostgresClient, key: RecordKey, xact: unknown) {
    this.#client = client;
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
      await this.#client.query(
        `delete from ${statements.schema}.inbox where ${IS_RECORD}`,
        valuesOf(this.#key),
      );
    } catch (error) {
      // The text may begin with ROLLBACK TO. If it commits after that, the record is taken back.
      if (sqlStateOf(error) !== IN_FAILED_TRANSACTION) throw error;
    }
  }

  /** Whether the transaction is still that of the record; rejects if it has failed. */
  async isInTransaction(): Promise<boolean> {
    return columnOf(await this.#client.query(PROBE), 'xact') === this.#xact;
  }

  /**
   * Puts the record back at the end of the handler, unless a ROLLBACK TO has done so. Not before: within a
   * savepoint the row would bear another number, by which it could not be taken back. False if the
   * transaction is another one; rejects if it has failed.
   */
  async restore(): Promise<boolean> {
    if (!this.wasWithheld) return this.isInTransaction();
    const { statements } = this.#key;
    const xact = 'pg_current_xact_id_if_assigned()::xid::text';
    const result = await this.#client.query(
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

/** The parameters of {@link IS_RECORD}. */
export function valuesOf({ scope, eventKey, handler }: RecordKey): unknown[] {
  return [scope, eventKey, handler];
}
