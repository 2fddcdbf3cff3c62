import type { DeadLetter } from '../../dead-letters/dead-letters.ts';
import type { ClaimedResult } from '../../dedupe/store.ts';
import type { PosthornError } from '../../errors.ts';
import type { ReportSource } from '../../outcomes/report.ts';
import type { ReadJob } from '../../queue/queued-job.ts';
import type { LetterOrigin } from '../letters/letter-rules.ts';

/** The signs that a process died during an earlier attempt. */
interface CrashSigns {
  /** True if a lease ran out. */
  readonly leaseRanOut: boolean;
  /** True if a dead letter says that the handlers of a last attempt were running. */
  readonly letterWasRunning: boolean;
}

/**
 * The way in which a run began. The objects below hold all the differences, so that the run itself needs no
 * conditions on it.
 */
export interface Origin extends LetterOrigin {
  /** The `source` of the run's report. */
  readonly source: ReportSource;
  /** The outcome once the handlers have succeeded. */
  readonly successOutcome: 'processed' | 'queued';
  /**
   * True if the dead letter of a last attempt is stored before its handlers run, false if not. Undefined if
   * the retries of the sender decide.
   */
  readonly storesLetterFirst: boolean | undefined;
  /** False if the run must leave the dead letter of its event alone, whatever its end. */
  readonly usesLetter: boolean;
  /** True if its handlers must not run without a claim, even under `onStoreFailure: 'process'`. */
  readonly requiresClaim: boolean;
  /** True if its handlers need permits of `maxRunning`. */
  readonly isLimited: boolean;
  /** True if its handlers wait for a key that is busy. */
  readonly waitsForBusyKeys: boolean;
  /** The dead letter that is replayed. */
  readonly letter?: DeadLetter | undefined;
  /** Names of the handlers that are known from the start to have succeeded. */
  readonly handled: readonly string[];
  /** Called when a handler has succeeded while others still run, with the names of all that have. */
  readonly onHandled?: ((handled: readonly string[]) => void) | undefined;
  /** Texts that middleware has sent along. */
  readonly traceContext?: { readonly [name: string]: string } | undefined;
  /** The number of the attempt. */
  attempt(claim: ClaimedResult): number;
  /**
   * Returns true if this attempt is the last one. `isLastOfService` is true if no further delivery is
   * certain.
   */
  isFinal(isLastOfService: boolean): boolean;
  /**
   * Returns true if a last attempt may run after signs of a crash. If not, the event is parked, because it
   * may kill the process again.
   */
  mayRunAfterCrash(signs: CrashSigns, hasHandlers: boolean): boolean;
  /** Returns true if the queue gets the event back after this failure, so that it is not parked. */
  isPutBack(error: PosthornError): boolean;
}

/** A delivery whose handlers all run before its answer. */
export const deliveryOrigin: Origin = {
  source: 'delivery',
  successOutcome: 'processed',
  storesLetterFirst: undefined,
  usesLetter: true,
  requiresClaim: false,
  isLimited: true,
  waitsForBusyKeys: true,
  mayBeParked: false,
  removesLetter: true,
  queueParks: false,
  handled: [],
  attempt: ({ attempt }) => attempt,
  isFinal: (isLastOfService) => isLastOfService,
  mayRunAfterCrash: ({ leaseRanOut, letterWasRunning }) => !leaseRanOut && !letterWasRunning,
  isPutBack: () => false,
};

/**
 * The origin for an event with handlers for workers: the other handlers run, and then the event is enqueued.
 */
export function enqueueOriginOf(origin: Origin): Origin {
  return {
    ...origin,
    successOutcome: 'queued',
    // Workers handle the event, and one of them may have stored its dead letter meanwhile.
    removesLetter: false,
    // Only handlers can kill a process; enqueueing an event does not.
    mayRunAfterCrash: (signs, hasHandlers) => !hasHandlers || origin.mayRunAfterCrash(signs, hasHandlers),
  };
}

/** An event that the application fetched. Nobody retries it, so this attempt is the last one. */
export const acceptOrigin: Origin = {
  ...deliveryOrigin,
  source: 'accept',
  // After a crash the list or the file that the event came from still has it.
  storesLetterFirst: false,
  // The caller decides how many events it accepts at once.
  isLimited: false,
  isFinal: () => true,
  // A first crash may have any cause. After it the dead letter is stored before the handlers run again, and
  // shows if they crash a second time.
  mayRunAfterCrash: ({ letterWasRunning }) => !letterWasRunning,
  // Nothing has failed, so the caller may accept the event again.
  isPutBack: ({ code }) => code === 'key_busy',
};

/**
 * The rerun of one handler. The event was handled, and stays so whatever the end. Only its caller waits.
 */
export const rerunOrigin: Origin = {
  ...deliveryOrigin,
  source: 'rerun',
  usesLetter: false,
  // Without a claim, nothing would show that this run has been done before.
  requiresClaim: true,
  isLimited: false,
  isFinal: () => true,
};

/** The replay of a dead letter. No further attempt follows, and only its caller waits. */
export function replayOrigin(letter: DeadLetter): Origin {
  return {
    ...deliveryOrigin,
    source: 'replay',
    storesLetterFirst: true,
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
    storesLetterFirst: true,
    // A worker has its `concurrency` instead.
    isLimited: false,
    // The jobs of a busy key would take all the places of a worker.
    waitsForBusyKeys: false,
    mayBeParked: isParked,
    queueParks: true,
    handled,
    onHandled,
    traceContext,
    attempt: () => attempt,
    isFinal: () => final,
    // A dead letter beside the job may be that of the last delivery, so it says nothing about a worker.
    mayRunAfterCrash: ({ leaseRanOut }) => !leaseRanOut || !parksAbandoned,
    // A worker puts the job back when it closes, or while the key is busy. The dead letter of a last attempt
    // stays beside the job.
    isPutBack: ({ code }) => code === 'run_closed' || (code === 'key_busy' && !parksBusyKey),
  };
}
