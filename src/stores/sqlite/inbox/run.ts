import { checkBegun } from '../../../receiver/checks/called-functions.ts';
import type { PosthornError } from '../../../receiver/errors.ts';
import type { SkipReason } from '../../../receiver/handling/handlers/named-handler.ts';
import type { HandlerContext } from '../../../receiver/handling/handlers/route.ts';
import { isInstance, messageOf, propertyOf } from '../../../receiver/values/foreign-values.ts';
import { InboxError } from '../../kit/inbox/inbox-error.ts';
import { type OnceRun, timeToBegin } from '../../kit/inbox/once.ts';
import { BUSY, type SqliteConnection } from '../connection.ts';
import { explain } from '../errors.ts';
import { writeInTurn } from '../single-write.ts';
import { BegunTransaction } from './begun-transaction.ts';
import { HandlerDatabase, type SqliteTransaction } from './handler-database.ts';
import {
  CREATE_MARKS,
  ensureRecord,
  findRecord,
  findRerun,
  rememberLatest,
  writeRecord,
  writeRerun,
} from './statements.ts';

/** The input of one run of a handler, and the key of its record. */
export interface InboxRun extends OnceRun {
  readonly handle: (database: SqliteTransaction) => unknown;
}

/**
 * Runs a handler in one transaction with the record of the event, after the runs that came before, as soon as
 * no other connection has the lock; rejects at the deadline of the delivery, and with the signal's reason
 * when that aborts.
 */
export async function runOnce(
  connection: SqliteConnection,
  run: InboxRun,
  context: HandlerContext,
): Promise<SkipReason | undefined> {
  const { signal } = context;
  const limit = { limitMs: timeToBegin(context), signal, toError: (late: Error) => unavailable(run, late) };
  return await writeInTurn(connection, 'run', limit, () => runInTransaction(connection, run));
}

/** The progress of a transaction. */
interface Step {
  /** The error of the handler, in an object of its own, because a handler may throw anything. */
  thrown?: { readonly error: unknown };
}

function runInTransaction(connection: SqliteConnection, run: InboxRun): SkipReason | undefined | typeof BUSY {
  const step: Step = {};
  try {
    // Not in the transaction: a rollback would take the table away.
    if (connection.withoutWaiting(() => connection.run(CREATE_MARKS)) === BUSY) return BUSY;
    const result = connection.write(() => recordAndHandle(connection, run, step));
    // An error of the handler may look like a lock of this file.
    if (step.thrown === undefined) return result;
  } catch (error) {
    if (step.thrown === undefined) throw unavailable(run, error);
  }
  throw step.thrown.error;
}

function recordAndHandle(connection: SqliteConnection, run: InboxRun, step: Step): SkipReason | undefined {
  const { rerun } = run;
  const record = rerun === undefined ? findRecord(run) : findRerun(run, rerun);
  if (connection.first(record) !== undefined) return 'handled_before';
  const isSuperseded =
    run.latest !== undefined && connection.first(rememberLatest(run, run.latest)) === undefined;
  if (!isSuperseded) handle(connection, run, step);
  // Last: only now is the transaction known to be still the one that was begun.
  connection.run(rerun === undefined ? writeRecord(run) : ensureRecord(run));
  if (rerun !== undefined) connection.run(writeRerun(run, rerun));
  return isSuperseded ? 'superseded' : undefined;
}

function handle(connection: SqliteConnection, run: InboxRun, step: Step): void {
  const transaction = new BegunTransaction(connection);
  const database = new HandlerDatabase(connection, transaction);
  try {
    const returned = run.handle(database);
    checkSynchronous(run, returned);
    checkBegun(returned);
    transaction.release(database.failure);
  } catch (error) {
    step.thrown = { error: transaction.failureOf(error) };
    throw error;
  } finally {
    database.close();
  }
}

/**
 * SQLite has one writer, and a connection has one transaction: one that stayed open while a handler waits
 * would take in what others write on the connection meanwhile.
 */
function checkSynchronous({ handler }: InboxRun, returned: unknown): void {
  if (typeof propertyOf(returned, 'then') !== 'function') return;
  // A rejection that nobody handles would end the process.
  Promise.resolve(returned).catch(() => {});
  throw new InboxError(
    'inbox_handler_async',
    `the handler ${JSON.stringify(handler)} returned a promise, and was rolled back: in an inbox of SQLite a ` +
      'handler must be synchronous; read what it needs before, in another handler or from the event',
  );
}

function unavailable({ handler }: InboxRun, error: unknown): PosthornError {
  if (isInstance(error, InboxError)) return error;
  const cause = explain(error);
  const message = `the inbox could not run the handler ${JSON.stringify(handler)}: ${messageOf(cause)}`;
  return new InboxError('inbox_unavailable', message, { cause });
}
