import { DelayedError, type Job, UnrecoverableError, WaitingError } from 'bullmq';
import type { Outcome } from '../../receiver/outcomes/outcome.ts';
import { jittered } from '../../receiver/timing/jitter.ts';
import type { Receiver } from '../../receiver-interface.ts';
import { toPostgresText } from './stored-data.ts';

/** The end of a job's run. Putting a job back does not count as an attempt. */
export type JobEnd =
  | { readonly kind: 'done'; readonly outcome: string }
  | { readonly kind: 'failed'; readonly error: Error }
  | { readonly kind: 'put back'; readonly pauseMs: number };

type JobReport = Pick<Awaited<ReturnType<Receiver['dispatch']>>, 'outcome' | 'error'>;

/** True if the job is done even with an error: a parked event is kept as a dead letter. */
const IS_DONE: Readonly<Record<Outcome, boolean>> = {
  processed: true,
  duplicate: true,
  ignored: true,
  queued: true,
  handshake: true,
  parked: true,
  rejected: false,
  failed: false,
  busy: false,
};

/**
 * The pause of a job that cannot run now, unless its worker closes. If a handler is missing or a key is busy,
 * it is only the first pause.
 */
const BUSY_PAUSE_MS = 5_000;
/**
 * The pause for a job of a closing worker: short, but long enough that this worker does not take it again.
 */
const CLOSING_PAUSE_MS = 1_000;
/** The longest pause before the retry of a job whose handler was missing, or whose key was busy. */
const LONGEST_PAUSE_MS = 60_000;
/**
 * The pause, as a part of the time for which the job could not run. During a deploy, a worker of the old
 * version must get a job less and less often. But a busy key is often free for a short time, and a job with
 * long pauses would miss it.
 */
const PAUSE_SHARE = { handler_missing: 1, key_busy: 0.1 } as const;

/**
 * Returns the end of a job, by the report of its run. `uncountedMs` is the passed part of the
 * `UncountedHour`; if it is undefined, an attempt without a handler, or with a busy key, has failed.
 */
export function toEnd({ outcome, error }: JobReport, uncountedMs: number | undefined): JobEnd {
  if (error === undefined || IS_DONE[outcome]) return { kind: 'done', outcome };
  const message = toPostgresText(`${error.code}: ${error.message}`);
  switch (error.code) {
    case 'event_running':
    case 'store_unavailable':
      return { kind: 'put back', pauseMs: BUSY_PAUSE_MS };
    case 'closing':
    case 'run_closed':
      return { kind: 'put back', pauseMs: CLOSING_PAUSE_MS };
    case 'provider_mismatch':
      // A worker of its provider may take it meanwhile. Until then the others must not get it often.
      return { kind: 'put back', pauseMs: LONGEST_PAUSE_MS };
    case 'handler_missing':
    case 'key_busy':
      if (uncountedMs === undefined) return { kind: 'failed', error: new Error(message, { cause: error }) };
      return { kind: 'put back', pauseMs: limitedPauseMs(uncountedMs * PAUSE_SHARE[error.code]) };
    case 'handler_failed_permanently':
      return { kind: 'failed', error: new UnrecoverableError(message) };
    default:
      return { kind: 'failed', error: new Error(message, { cause: error }) };
  }
}

function limitedPauseMs(ms: number): number {
  return Math.min(Math.max(ms, BUSY_PAUSE_MS), LONGEST_PAUSE_MS);
}

/**
 * Resolves with the outcome of a finished job; otherwise throws the error that tells BullMQ how to continue.
 */
export async function endJob(job: Job, token: string, end: JobEnd): Promise<string> {
  if (end.kind === 'done') return end.outcome;
  if (end.kind === 'failed') throw end.error;
  return putBack(job, token, end.pauseMs);
}

/** Puts a job back without counting an attempt. The error tells BullMQ that the job has been moved. */
async function putBack(job: Job, token: string, pauseMs: number): Promise<never> {
  // PostgreSQL takes whole milliseconds.
  await job.moveToDelayed(Math.round(Date.now() + jittered(pauseMs)), token);
  throw new DelayedError();
}

/** Puts back a job that has not begun: to the front of the queue, for any worker, or for later. */
export async function sendBack(job: Job, token: string, position: 'front' | 'later'): Promise<never> {
  if (position === 'later') return putBack(job, token, BUSY_PAUSE_MS);
  await job.moveToWait(token);
  throw new WaitingError();
}
