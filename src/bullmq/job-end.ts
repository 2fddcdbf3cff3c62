import { DelayedError, type Job, UnrecoverableError, WaitingError } from 'bullmq';
import type { Receiver } from '../receiver-interface.ts';

/** The end of a run of a job. A job that is put back has made no attempt. */
export type JobEnd =
  | { readonly kind: 'done'; readonly outcome: string }
  | { readonly kind: 'failed'; readonly error: Error }
  | { readonly kind: 'put back'; readonly pauseMs: number };

type JobReport = Pick<Awaited<ReturnType<Receiver['dispatch']>>, 'outcome' | 'error'>;

/** The pause before a job comes again that another process runs, or that cannot run now. */
const BUSY_PAUSE_MS = 5_000;
/** Another worker can have it soon; this one must not take it again and again before it has ended. */
const CLOSING_PAUSE_MS = 1_000;
/** The longest pause before a job that lacked a handler may meet a worker that has it. */
const LONGEST_MISSING_PAUSE_MS = 60_000;

/**
 * The end of a job, by the report of its run. `missingForMs` is how long workers have lacked a handler of
 * the job; it is undefined if that was too long, and is a failure.
 */
export function toEnd({ outcome, error }: JobReport, missingForMs: number | undefined): JobEnd {
  if (error === undefined || outcome === 'parked') return { kind: 'done', outcome };
  const message = `${error.code}: ${error.message}`;
  switch (error.code) {
    case 'event_running':
    case 'store_unavailable':
      return { kind: 'put back', pauseMs: BUSY_PAUSE_MS };
    case 'closing':
    case 'run_closed':
      return { kind: 'put back', pauseMs: CLOSING_PAUSE_MS };
    case 'handler_missing':
      if (missingForMs === undefined) return { kind: 'failed', error: new Error(message, { cause: error }) };
      return { kind: 'put back', pauseMs: missingPauseMs(missingForMs) };
    case 'handler_failed_permanently':
      return { kind: 'failed', error: new UnrecoverableError(message) };
    default:
      return { kind: 'failed', error: new Error(message, { cause: error }) };
  }
}

/** Short at first; the longer a deploy takes, the less often a worker of the old version is asked again. */
function missingPauseMs(missingForMs: number): number {
  return Math.min(Math.max(missingForMs, BUSY_PAUSE_MS), LONGEST_MISSING_PAUSE_MS);
}

/** Resolves with the outcome of a job that is done; else throws what tells BullMQ how to go on. */
export async function endJob(job: Job, token: string, end: JobEnd): Promise<string> {
  if (end.kind === 'done') return end.outcome;
  if (end.kind === 'failed') throw end.error;
  return putBack(job, token, end.pauseMs);
}

/**
 * `moveToDelayed` leaves the count of attempts as it is; the error tells BullMQ that the job has been moved.
 */
async function putBack(job: Job, token: string, pauseMs: number): Promise<never> {
  await job.moveToDelayed(Date.now() + pauseMs * (0.5 + Math.random() / 2), token);
  throw new DelayedError();
}

/** Puts a job back that has not begun: to the front of the queue, for any worker, or for later. */
export async function sendBack(job: Job, token: string, place: 'front' | 'later'): Promise<never> {
  if (place === 'later') return putBack(job, token, BUSY_PAUSE_MS);
  await job.moveToWait(token);
  throw new WaitingError();
}
