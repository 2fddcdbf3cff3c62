import { PermanentError, PosthornError } from '../../errors.ts';
import { isInstance, messageOf, show } from '../../foreign-values.ts';
import type { SkipReason } from '../../handling/named-handler.ts';
import type { Semaphore } from '../../timing/semaphore.ts';
import { explain } from '../refusals.ts';
import { InboxError, LOCK_NOT_AVAILABLE, mayRunAgain, sqlStateOf } from './inbox-error.ts';
import type { Guard } from './latest.ts';
import type { KeyRun, LatestKeys } from './latest-keys.ts';
import { columnOf, type InboxStatements } from './statements.ts';
import { LATE, ROW_PAUSE_MS, type RunLimits } from './time-limits.ts';

/** What one run of a handler is about. */
export interface InboxJob {
  readonly scope: string;
  readonly eventId: string;
  readonly eventKey: string;
  /** The name of the handler. */
  readonly handler: string;
  /** What `latest` gave, and the time to compare. */
  readonly guard: Guard | undefined;
  readonly statements: InboxStatements;
  readonly limits: RunLimits;
  /** How long the transaction may stand still between two statements. */
  readonly idleMs: number;
}

/** How far one transaction has come. */
export class TransactionStep {
  /** Another run has the row: this one has to wait for its end. */
  isRowHeld = false;
  /** The record is written, and the handler begins. */
  hasBegun = false;
  /** The number of the transaction. */
  xact: unknown;
  readonly #onBegun: () => void;

  constructor(onBegun: () => void) {
    this.#onBegun = onBegun;
  }

  /**
   * Writes the record of the event, and moves the guard; says why the handler is not to run. `run` gives the
   * values to the statement. Waits for a run of the same event or key for the `lock_timeout` of the inbox.
   */
  async record(
    { scope, eventKey, handler, idleMs, guard }: InboxJob,
    run: (values: (string | null)[]) => Promise<unknown>,
  ): Promise<SkipReason | undefined> {
    const ofGuard =
      guard === undefined ? [null, null, null] : [guard.key, guard.createdAt, String(guard.rank)];
    try {
      const recorded = columnOf(await run([scope, eventKey, handler, `${idleMs}ms`, ...ofGuard]), 'recorded');
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

/** How often a transaction that conflicts with others is run before the attempt fails. */
const MAX_CONFLICTS = 4;
const CONFLICT_PAUSE_MS = 50;

/** The state that the runs in one pool share. */
export interface SharedByRuns {
  /** Permits for connections of the pool. */
  readonly permits: Semaphore;
  readonly latestKeys: LatestKeys;
}

/**
 * Runs a handler in a transaction with the record of the event: again after a conflict with other
 * transactions, and later where another run has the row.
 */
export async function runOnce(
  job: InboxJob,
  { permits, latestKeys }: SharedByRuns,
  runTransaction: (step: TransactionStep) => Promise<SkipReason | undefined>,
): Promise<SkipReason | undefined> {
  const { guard, statements, scope, handler } = job;
  if (guard === undefined) return runTransactions(job, permits, undefined, runTransaction);
  // None of the first three can have a NUL in it.
  const keyRun = latestKeys.enter([statements.schema, scope, handler, guard.key].join('\0'));
  try {
    return await runTransactions(job, permits, keyRun, runTransaction);
  } finally {
    keyRun.leave();
  }
}

async function runTransactions(
  job: InboxJob,
  permits: Semaphore,
  keyRun: KeyRun | undefined,
  runTransaction: (step: TransactionStep) => Promise<SkipReason | undefined>,
): Promise<SkipReason | undefined> {
  let isWaiting = false;
  for (let conflicts = 0; ; ) {
    const step = new TransactionStep(() => keyRun?.begin());
    if (keyRun !== undefined && (await orAtDeadline(keyRun.look(job.limits), () => busy(job))))
      isWaiting = true;
    if (!permits.tryAcquire()) await waitForConnection(job, permits, isWaiting);
    try {
      return await runTransaction(step);
    } catch (error) {
      const isRetried = step.isRowHeld
        ? !job.limits.isOver
        : mayRunAgain(error) && conflicts < MAX_CONFLICTS - 1;
      isWaiting ||= step.isRowHeld;
      if (isWaiting && !step.hasBegun && job.limits.isOver && !job.limits.signal.aborted)
        throw busy(job, error);
      if (isPermanent(error) || job.limits.signal.aborted || !isRetried) throw failure(job, step, error);
    } finally {
      permits.release();
      keyRun?.end();
    }
    if (!step.isRowHeld) conflicts += 1;
    await job.limits.pause(step.isRowHeld ? ROW_PAUSE_MS : CONFLICT_PAUSE_MS, keyRun?.otherRunEnd);
  }
}

function waitForConnection(job: InboxJob, permits: Semaphore, isWaiting: boolean): Promise<void> {
  const failure = (): InboxError => (isWaiting ? busy(job) : noConnection(job, permits));
  return permits.acquire((granted) => orAtDeadline(job.limits.within(granted), failure));
}

/** Rejects with `failure` in place of {@link LATE}. */
async function orAtDeadline<T>(waited: Promise<T>, failure: () => InboxError): Promise<T> {
  try {
    return await waited;
  } catch (error) {
    throw error === LATE ? failure() : error;
  }
}

/** What the handler threw stays as it is; what happened before it is said in the words of the inbox. */
function failure(job: InboxJob, { hasBegun }: TransactionStep, thrown: unknown): unknown {
  const { handler, statements, limits } = job;
  if (hasBegun || limits.signal.aborted) return thrown;
  const error = explain(statements.schema, thrown);
  if (isInstance(error, PosthornError)) return error;
  const message = `the inbox could not begin the handler ${JSON.stringify(handler)}: ${messageOf(error)}`;
  return new InboxError('inbox_unavailable', message, { cause: error });
}

function busy({ handler, eventId }: InboxJob, cause?: unknown): InboxError {
  const message =
    `another run of the handler ${JSON.stringify(handler)} still had the event ${show(eventId)}, ` +
    'or its latest key, at the deadline';
  return new InboxError('inbox_busy', message, { cause });
}

function noConnection({ handler }: InboxJob, { size }: Semaphore): InboxError {
  const message =
    `no connection was free for the handler ${JSON.stringify(handler)} before the deadline: ` +
    `inboxes take ${size} of this pool at once, so that others stay free for the store`;
  return new InboxError('inbox_unavailable', message);
}

function isPermanent(error: unknown): boolean {
  return isInstance(error, PermanentError);
}
