import { PermanentError, PosthornError } from '../../../receiver/errors.ts';
import type { SkipReason } from '../../../receiver/handling/handlers/named-handler.ts';
import type { Semaphore } from '../../../receiver/timing/semaphore.ts';
import { isInstance, messageOf, show } from '../../../receiver/values/foreign-values.ts';
import { InboxError } from '../../kit/inbox/inbox-error.ts';
import type { OnceRun } from '../../kit/inbox/once.ts';
import { columnOf } from '../client.ts';
import { explain, LOCK_NOT_AVAILABLE, mayRunAgain, sqlStateOf } from '../errors.ts';
import type { KeyRun } from './latest-keys.ts';
import type { SchemaRecordKey } from './record.ts';
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
  step: TransactionStep,
  handle: (transaction: Tx) => Promise<unknown>,
) => Promise<SkipReason | undefined>;

/** The progress of one transaction. */
export class TransactionStep {
  /** Another run has the row: this one has to wait for its end. */
  isRowHeld = false;
  /** The record is written, and the handler begins. */
  hasBegun = false;
  /** The number of the transaction. */
  xact: string | undefined;
  readonly #onBegun: () => void;

  constructor(onBegun: () => void) {
    this.#onBegun = onBegun;
  }

  /**
   * Writes the record of the event, and remembers the newest event of the key; says why the handler is not to
   * run. `send` gives the values to the statement. Waits for a run of the same event or key for the
   * `lock_timeout` of the inbox.
   */
  async record(
    { scope, eventKey, handler, idleMs, latest }: InboxRun,
    send: (values: (string | null)[]) => Promise<unknown>,
  ): Promise<SkipReason | undefined> {
    const ofLatest =
      latest === undefined ? [null, null, null] : [latest.key, latest.createdAt, String(latest.rank)];
    try {
      const recorded = columnOf(
        await send([scope, eventKey, handler, `${idleMs}ms`, ...ofLatest]),
        'recorded',
      );
      if (recorded === 'handled_before' || recorded === 'superseded') return recorded;
      this.xact = recorded;
      this.hasBegun = true;
      this.#onBegun();
      return undefined;
    } catch (error) {
      this.isRowHeld = sqlStateOf(error) === LOCK_NOT_AVAILABLE;
      throw error;
    }
  }
}

/** The most runs of a transaction that conflicts with others before the attempt fails. */
const MAX_CONFLICTS = 4;
const CONFLICT_PAUSE_MS = 50;

/**
 * Runs a handler in a transaction with the record of the event: again after a conflict with other
 * transactions, and later if another run has the row.
 */
export async function runOnce(
  run: InboxRun,
  { connections, latestKeys }: RunsInPool,
  runTransaction: (step: TransactionStep) => Promise<SkipReason | undefined>,
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
  runTransaction: (step: TransactionStep) => Promise<SkipReason | undefined>,
): Promise<SkipReason | undefined> {
  let isWaiting = false;
  for (let conflicts = 0; ; ) {
    const step = new TransactionStep(() => keyRun?.begin());
    if (keyRun !== undefined && (await orAtDeadline(keyRun.look(run.limits), () => busy(run))))
      isWaiting = true;
    if (!connections.tryAcquire()) await waitForConnection(run, connections, isWaiting);
    try {
      return await runTransaction(step);
    } catch (error) {
      const isRetried = step.isRowHeld
        ? !run.limits.isOver
        : mayRunAgain(error) && conflicts < MAX_CONFLICTS - 1;
      isWaiting ||= step.isRowHeld;
      if (isWaiting && !step.hasBegun && run.limits.isOver && !run.limits.signal.aborted)
        throw busy(run, error);
      if (isPermanent(error) || run.limits.signal.aborted || !isRetried) throw failure(run, step, error);
    } finally {
      connections.release();
      keyRun?.end();
    }
    if (!step.isRowHeld) conflicts += 1;
    await run.limits.pause(step.isRowHeld ? ROW_PAUSE_MS : CONFLICT_PAUSE_MS, keyRun?.otherRunEnd);
  }
}

function waitForConnection(run: InboxRun, connections: Semaphore, isWaiting: boolean): Promise<void> {
  const failure = (): InboxError => (isWaiting ? busy(run) : noConnection(run, connections));
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

/** An error of the handler stays as it is; one that came before it is given in the words of the inbox. */
function failure(run: InboxRun, { hasBegun }: TransactionStep, thrown: unknown): unknown {
  const { handler, statements, limits } = run;
  if (hasBegun || limits.signal.aborted) return thrown;
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
