import { PermanentError } from '../../errors.ts';
import { isInstance } from '../../foreign-values.ts';
import type { PostgresPool } from '../client.ts';
import { DURABLE_COMMIT } from '../durable-commit.ts';
import { withClient } from '../with-client.ts';
import { InboxError } from './inbox-error.ts';
import { IS_RECORD, type RecordKey, valuesOf } from './record.ts';
import { columnOf } from './statements.ts';
import { GRACE_MS } from './time-limits.ts';

/** The handler's statements were not all in the transaction of the inbox. */
export function endedByHandler(cause?: unknown): InboxError {
  return new InboxError(
    'inbox_transaction_ended',
    'the handler has ended its transaction itself: what it wrote is not tied to the record of the inbox; ' +
      'leave COMMIT and ROLLBACK to the inbox',
    { cause },
  );
}

/** Returns true for an error of {@link endedByHandler}. */
export function isEndedByHandler(error: unknown): boolean {
  return isInstance(error, InboxError) && error.code === 'inbox_transaction_ended';
}

/** A handler that failed, and may have ended its transaction. */
export interface DoubtfulFailure {
  readonly error: unknown;
  /** The number of the transaction that the record was written in. */
  readonly xact: unknown;
  /** The transaction is known to have ended, if not by what. */
  readonly hasEnded: boolean;
}

/**
 * Takes back the record if the handler has committed it, and says what the handler has failed with:
 * PermanentError if something is committed, because each further run would commit it again.
 */
export async function settleFailure(
  pool: PostgresPool,
  key: RecordKey,
  { error, xact, hasEnded }: DoubtfulFailure,
): Promise<unknown> {
  const status = await takeBack(pool, key, xact).catch(() => 'unknown');
  const isCommitted = status === 'committed' || (hasEnded && status !== 'aborted');
  if (!isCommitted) return error;
  const advice =
    status === 'unknown'
      ? `. PostgreSQL did not answer: before a replay, look for the record in ${key.statements.schema}.inbox as well`
      : '';
  return new PermanentError(
    'the handler has ended its transaction itself, and rows that it wrote may have been committed: look at them ' +
      `before the event is replayed or dropped, and leave COMMIT and ROLLBACK to the inbox${advice}`,
    { cause: error },
  );
}

/**
 * Deletes the record of an event if it was committed in the transaction of this number, in a transaction of
 * its own: no other run may take the event for handled. Resolves with what has become of that transaction:
 * `committed`, `aborted` or, if it was prepared, `in progress`.
 */
async function takeBack(pool: PostgresPool, key: RecordKey, xact: unknown): Promise<unknown> {
  // The status is asked for by a number of 64 bits, whose upper half is that of a present one or one less.
  const text = `with taken_back as (
  delete from ${key.statements.schema}.inbox where ${IS_RECORD} and xmin::text = $4::text
), present as (
  select pg_current_xact_id()::text::bigint as xact
)
select pg_xact_status((xact - ((xact - $4::text::bigint) & 4294967295))::text::xid8) as status, ${DURABLE_COMMIT}
from present`;
  const endsAt = performance.now() + GRACE_MS;
  const values = [...valuesOf(key), xact];
  return columnOf(await withClient(pool, endsAt, (client) => client.query(text, values)), 'status');
}
