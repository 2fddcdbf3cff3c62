import { ConfigurationError } from '../../../receiver/errors.ts';
import type { SkipReason } from '../../../receiver/handling/handlers/named-handler.ts';
import { messageOf } from '../../../receiver/values/foreign-values.ts';
import { Deferred } from '../../kit/deferred.ts';
import { endedByHandler, InboxError, isEndedByHandler, swallowed } from '../../kit/inbox/inbox-error.ts';
import { columnOf, type PostgresPool } from '../client.ts';
import { IN_FAILED_TRANSACTION, sqlStateOf } from '../errors.ts';
import { cancel } from './commit-in-pool.ts';
import { PROBE, settleFailure } from './record.ts';
import type { InboxRun, RunTransaction, TransactionProgress } from './run.ts';
import { LATE } from './time-limits.ts';

/**
 * Runs one statement of the inbox in a transaction. The parameters in `text` are `$1`, `$2`, …, each used
 * once and in order, so a client whose placeholder is `?` can put that in their place. The values are texts
 * or null. Resolves with the rows as objects, or with an object that has them as `rows`; rejects with the
 * error of PostgreSQL, or an error that has it as its cause.
 */
export type InboxQuery = (text: string, values: (string | null)[]) => Promise<unknown>;

/**
 * Runs `work` in a transaction of another client, and commits the transaction. Then resolves with the result
 * of `work`: the reason if the handler was skipped. If `work` rejects, rolls back and rejects. `tx` is what
 * the handler gets as `context.transaction`; `query` runs a statement of the inbox in the transaction.
 */
export type BeginTransaction<Tx> = (
  work: (tx: Tx, query: InboxQuery) => Promise<SkipReason | undefined>,
) => Promise<SkipReason | undefined>;

/** Runs handlers in transactions that another client begins and commits. */
export function commitByOtherClient<Tx>(begin: BeginTransaction<Tx>, pool: PostgresPool): RunTransaction<Tx> {
  return async (run, progress, handle) => {
    let isGivenUp = false;
    let hasEnded = false;
    const recorded = new Deferred<void>();
    const work = async (tx: Tx, query: InboxQuery): Promise<SkipReason | undefined> => {
      await checkTransaction(query);
      const reason = await progress.record(run, (values) => query(run.statements.record, values));
      if (isGivenUp) throw late();
      recorded.resolve();
      if (reason === undefined) {
        await untilHandled(pool, run, progress, handle(tx));
        await probe(query, progress);
      }
      hasEnded = true;
      return reason;
    };
    const runWork = async (): Promise<SkipReason | undefined> => {
      try {
        const reason = await begin(work);
        if (hasEnded) return reason;
        throw new ConfigurationError('begin must run its work, and resolve once that is committed');
      } catch (error) {
        const { xact } = progress;
        if (xact === undefined || hasEnded) throw error;
        // A failed run must commit nothing. If its record is there, the handler or the client committed it.
        throw await settleFailure(pool, run, { error, xact, hasEnded: isEndedByHandler(error) });
      }
    };
    const begun = runWork();
    try {
      await run.limits.within(Promise.race([recorded.promise, begun]));
    } catch (error) {
      isGivenUp = true;
      throw error === LATE ? late() : error;
    }
    return await run.limits.withGrace(begun, late);
  };
}

/** Waits for the end of the handler; cancels what it runs when the signal aborts. */
async function untilHandled(
  pool: PostgresPool,
  { limits }: InboxRun,
  { xact }: TransactionProgress,
  handled: Promise<unknown>,
): Promise<void> {
  try {
    await limits.orAbort(handled);
  } catch (error) {
    if (limits.signal.aborted) await cancel(pool, xact, handled);
    throw error;
  }
}

/** Marks a transaction: the mark ends with it. */
const MARK = `select set_config('posthorn.transaction', 'begun', true)`;

/** Shows that there is a transaction: without one, the record would stay whatever happens. */
async function checkTransaction(query: InboxQuery): Promise<void> {
  await query(MARK, []);
  if (columnOf(await query(PROBE, []), 'mark') === 'begun') return;
  throw new ConfigurationError(
    'begin must run all statements of its query in one transaction, and query must resolve with rows, or { rows }',
  );
}

/** The last statement shows that the transaction is alive, and that it is still the one that was begun. */
async function probe(query: InboxQuery, { xact }: TransactionProgress): Promise<void> {
  let result: unknown;
  try {
    result = await query(PROBE, []);
  } catch (error) {
    throw sqlStateOf(error) === IN_FAILED_TRANSACTION ? swallowed('PostgreSQL', error) : lost(error);
  }
  if (columnOf(result, 'xact') !== xact) throw endedByHandler();
}

function lost(cause: unknown): InboxError {
  const message = `the transaction was lost before its end: ${messageOf(cause)}`;
  return new InboxError('inbox_rolled_back', message, { cause });
}

function late(): InboxError {
  return new InboxError('inbox_unavailable', 'begin had no transaction ready in time');
}
