import type { DeadLetter } from '../../dead-letters/dead-letters.ts';
import type { ClaimedResult } from '../../dedupe/store.ts';
import type { PosthornError } from '../../errors.ts';
import type { ReportSource } from '../../outcomes/report.ts';
import type { ReadJob } from '../../queue/queued-job.ts';
import type { LetterOrigin } from '../letters/letter-rules.ts';

/** The signs that a process died during an earlier attempt. */
interface CrashSigns {
  /** A lease ran out. */
  readonly leaseRanOut: boolean;
  /** A letter says that the handlers of a last attempt were running. */
  readonly letterWasRunning: boolean;
}

/**
 * The beginning of a run. Four objects hold all that depends on it, instead of conditions all over the run.
 */
export interface Origin extends LetterOrigin {
  /** The `source` of the run's report. */
  readonly source: ReportSource;
  /** The outcome once the handlers have succeeded. */
  readonly success: 'processed' | 'queued';
  /** True if its handlers need permits of `maxRunning`. */
  readonly isLimited: boolean;
  /** True if its handlers wait for a key that is busy. */
  readonly waitsForKeys: boolean;
  /** The letter that is replayed. */
  readonly letter?: DeadLetter | undefined;
  /** Names of the handlers that are known from the start to have finished. */
  readonly handled: readonly string[];
  /** Called when a handler has finished while others still run, with the names of all that have. */
  readonly onHandled?: ((handled: readonly string[]) => void) | undefined;
  /** Texts that middleware has sent along. */
  readonly traceContext?: { readonly [name: string]: string } | undefined;
  /** The number of the attempt. */
  attempt(claim: ClaimedResult): number;
  /** Returns true for the last one; `isLastOfService` is the answer by the service's schedule. */
  isFinal(isLastOfService: boolean): boolean;
  /**
   * Returns true if a last attempt may run although a process may have died in an earlier one: the event may
   * be what kills the process.
   */
  mayRunAfterCrash(signs: CrashSigns, hasHandlers: boolean): boolean;
  /** Returns true if the queue gets the event back after this failure, so that it is not parked. */
  isPutBack(error: PosthornError): boolean;
}

/** A delivery whose handlers all run before its answer. */
export const deliveryOrigin: Origin = {
  source: 'delivery',
  success: 'processed',
  isLimited: true,
  waitsForKeys: true,
  mayBeParked: false,
  removesLetter: true,
  queueParks: false,
  handled: [],
  attempt: ({ attempt }) => attempt,
  isFinal: (isLastOfService) => isLastOfService,
  mayRunAfterCrash: ({ leaseRanOut, letterWasRunning }) => !leaseRanOut && !letterWasRunning,
  isPutBack: () => false,
};

/** A delivery with handlers for workers: the other handlers run, and then the event is enqueued. */
export const enqueueOrigin: Origin = {
  ...deliveryOrigin,
  success: 'queued',
  // Workers handle the event, and one of them may have stored its letter meanwhile.
  removesLetter: false,
  // Without handlers of its own, enqueueing the event does not kill a process.
  mayRunAfterCrash: (signs, hasHandlers) =>
    !hasHandlers || deliveryOrigin.mayRunAfterCrash(signs, hasHandlers),
};

/** The replay of a letter. No further attempt follows, and only its caller waits. */
export function replayOrigin(letter: DeadLetter): Origin {
  return {
    ...deliveryOrigin,
    source: 'replay',
    isLimited: false,
    letter,
    mayBeParked: true,
    isFinal: () => true,
    mayRunAfterCrash: () => true,
  };
}

/** The facts of a job that only its worker knows: see `DispatchOptions`. */
interface JobRun {
  readonly attempt: number;
  readonly final: boolean;
  readonly onHandled?: Origin['onHandled'];
  readonly parksAbandoned: boolean;
  readonly parksBusyKey: boolean;
}

/** A job that a worker runs: the queue counts its attempts. */
export function jobOrigin(
  { isParked, handled, traceContext }: ReadJob,
  { attempt, final, onHandled, parksAbandoned, parksBusyKey }: JobRun,
): Origin {
  return {
    ...deliveryOrigin,
    source: 'job',
    // A worker has its `concurrency` instead.
    isLimited: false,
    // The jobs of a busy key would take all the places of a worker.
    waitsForKeys: false,
    mayBeParked: isParked,
    queueParks: true,
    handled,
    onHandled,
    traceContext,
    attempt: () => attempt,
    isFinal: () => final,
    // The letter of an event that came as a last attempt waits beside its job as it was stored then, so it
    // says nothing about the worker.
    mayRunAfterCrash: ({ leaseRanOut }) => !leaseRanOut || !parksAbandoned,
    // A worker that closes puts the job back, and the letter of a last attempt stays beside it.
    // The letter of a job whose key is busy stays as well.
    isPutBack: ({ code }) => code === 'run_closed' || (code === 'key_busy' && !parksBusyKey),
  };
}
