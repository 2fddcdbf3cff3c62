import { PermanentError, PosthornError } from '../../../receiver/errors.ts';
import type { SkipReason } from '../../../receiver/handling/handlers/named-handler.ts';
import type { Semaphore } from '../../../receiver/timing/semaphore.ts';
import { isInstance, messageOf, show } from '../../../receiver/values/foreign-values.ts';
import { InboxError } from '../../kit/inbox/inbox-error.ts';
import type { OnceRun } from '../../kit/inbox/once.ts';
import { columnOf } from '../client.ts';
import { explain, LOCK_NOT_AVAILABLE, mayRunAgain, sqlStateOf } from '../errors.ts';
import type { KeyRun } from './latest-keys.ts';
import { keyOf, type SchemaRecordKey } from './record.ts';
import type { RunsInPool } from './runs-in-pool.ts';
import { LATE, ROW_PAUSE_MS, type RunLimits } from './time-limits.ts';

/** The input of one run of a handler, and the key of its record. */
export interface InboxRun extends SchemaRecordKey, OnceRun {
  readonly eventId: string;
  readonly limits: RunLimits;
  /** The longest time for which the transaction may stand still between two statements. */
  readonly idleMs: number;
}

/** Runs the handler of a run in one transaction, and commits it. */
export type RunTransaction<Tx> = (
  run: InboxRun,
  progress: TransactionProgress,
  handle: (transaction: Tx) => Promise<unknown>,
) => Promise<SkipReason | undefined>;

/**
 * - `recording`: the record of the event is not written yet.
 * - `row_held`: it could not be written, because another run has the row. This one has to wait for its end.
 * - `begun`: it is written, and the handler begins.
 */
export type TransactionState = 'recording' | 'row_held' | 'begun';

/** The progress of one transaction. */
export class TransactionProgress {
  /** The number of the transaction, once it has `begun`. */
  xact: string | undefined;
  #state: TransactionState = 'recording';
  readonly #onBegun: () => void;

  constructor(onBegun: () => void) {
    this.#onBegun = onBegun;
  }

  get state(): TransactionState {
    return this.#state;
  }

  /**
   * Writes the record of the event, and remembers the newest event of the key; says why the handler is not to
   * run. `send` gives the values to the statement. Waits for a run of the same event or key for the
   * `lock_timeout` of the inbox.
   */
  async record(
    run: InboxRun,
    send: (values: (string | null)[]) => Promise<unknown>,
  ): Promise<SkipReason | undefined> {
    const { idleMs, latest } = run;
    const ofLatest =
      latest === undefined ? [null, null, null] : [latest.key, latest.createdAt, String(latest.rank)];
    try {
      const recorded = columnOf(await send([...keyOf(run), `${idleMs}ms`, ...ofLatest]), 'recorded');
      if (recorded === 'handled_before' || recorded === 'superseded') return recorded;
      this.xact = recorded;
      this.#state = 'begun';
      this.#onBegun();
      return undefined;
    } catch (error) {
      if (sqlStateOf(error) === LOCK_NOT_AVAILABLE) this.#state = 'row_held';
      throw error;
    }
  }
}

/** The most runs of a transaction that conflicts with others before the attempt fails. */
const MAX_CONFLICTS = 4;
const CONFLICT_PAUSE_MS = 50;

/**
 * Runs a handler in a transaction with the record of the event. Repeats the transaction after a conflict with
 * others, and while another run has the row.
 */
export async function runOnce(
  run: InboxRun,
  { connections, latestKeys }: RunsInPool,
  runTransaction: (progress: TransactionProgress) => Promise<SkipReason | undefined>,
): Promise<SkipReason | undefined> {
  const { latest, statements, scope, handler } = run;
  if (latest === undefined) return runTransactions(run, connections, undefined, runTransaction);
  // None of the first three can have a NUL in it.
  const keyRun = latestKeys.enter([statements.schema, scope, handler, latest.key].join('\0'));
  try {
    return await runTransactions(run, connections, keyRun, runTransaction);
  } finally {
    keyRun.leave();
  }
}

async function runTransactions(
  run: InboxRun,
  connections: Semaphore,
  keyRun: KeyRun | undefined,
  runTransaction: (progress: TransactionProgress) => Promise<SkipReason | undefined>,
): Promise<SkipReason | undefined> {
  let hasWaited = false;
  let conflicts = 0;
  for (;;) {
    const progress = new TransactionProgress(() => keyRun?.begin());
    if (keyRun !== undefined)
      hasWaited = (await orAtDeadline(keyRun.waitForTurn(run.limits), () => busy(run))) || hasWaited;
    if (!connections.tryAcquire()) await waitForConnection(run, connections, hasWaited);
    try {
      return await runTransaction(progress);
    } catch (error) {
      hasWaited ||= progress.state === 'row_held';
      if (hasWaited && isTooLate(run, progress)) throw busy(run, error);
      if (!maySucceedLater(run, progress, error, conflicts)) throw failure(run, progress, error);
    } finally {
      connections.release();
      keyRun?.end();
    }
    const isConflict = progress.state !== 'row_held';
    if (isConflict) conflicts += 1;
    await run.limits.pause(isConflict ? CONFLICT_PAUSE_MS : ROW_PAUSE_MS, keyRun?.otherRunEnd);
  }
}

/** Returns true if the deadline came before the handler could begin. */
function isTooLate({ limits }: InboxRun, { state }: TransactionProgress): boolean {
  return state !== 'begun' && limits.isOver && !limits.signal.aborted;
}

/** Returns true if the next transaction may succeed: once the row is free, or without the conflict. */
function maySucceedLater(
  { limits }: InboxRun,
  { state }: TransactionProgress,
  error: unknown,
  conflicts: number,
): boolean {
  if (isPermanent(error) || limits.signal.aborted) return false;
  return state === 'row_held' || (mayRunAgain(error) && conflicts < MAX_CONFLICTS - 1);
}

function waitForConnection(run: InboxRun, connections: Semaphore, hasWaited: boolean): Promise<void> {
  const failure = (): InboxError => (hasWaited ? busy(run) : noConnection(run, connections));
  return connections.acquire((granted) => orAtDeadline(run.limits.within(granted), failure));
}

/** Rejects with `failure` in place of {@link LATE}. */
async function orAtDeadline<T>(waited: Promise<T>, failure: () => InboxError): Promise<T> {
  try {
    return await waited;
  } catch (error) {
    throw error === LATE ? failure() : error;
  }
}

/** Returns an error of the handler as it is, and an earlier error as an error of the inbox. */
function failure(run: InboxRun, { state }: TransactionProgress, thrown: unknown): unknown {
  const { handler, statements, limits } = run;
  if (state === 'begun' || limits.signal.aborted) return thrown;
  const error = explain(statements.schema, thrown);
  if (isInstance(error, PosthornError)) return error;
  const message = `the inbox could not begin the handler ${JSON.stringify(handler)}: ${messageOf(error)}`;
  return new InboxError('inbox_unavailable', message, { cause: error });
}

function busy({ handler, eventId }: InboxRun, cause?: unknown): InboxError {
  const message =
    `another run of the handler ${JSON.stringify(handler)} still had the event ${show(eventId)}, ` +
    'or its latest key, at the deadline';
  return new InboxError('inbox_busy', message, { cause });
}

function noConnection({ handler }: InboxRun, { size }: Semaphore): InboxError {
  const message =
    `no connection was free for the handler ${JSON.stringify(handler)} before the deadline: ` +
    `inboxes take ${size} of this pool at once, so that others stay free for the store`;
  return new InboxError('inbox_unavailable', message);
}

function isPermanent(error: unknown): boolean {
  return isInstance(error, PermanentError);
}
