import { jittered } from '../../receiver/timing/jitter.ts';
import { pause, performance } from '../../receiver/timing/process-clock.ts';
import { withTimeLimit } from '../../receiver/timing/time-limit.ts';
import type { FailureRules } from './failure-rules.ts';

const FIRST_PAUSE_MS = 20;

/** The time that an operation has for all its tries. */
export interface OperationLimit {
  readonly ms: number;
  /** The end of that time, by the monotonic clock. */
  readonly endsAt: number;
}

/** Returns a limit of `ms` milliseconds from now. */
export function limitFromNow(ms: number): OperationLimit {
  return { ms, endsAt: performance.now() + ms };
}

/** One try of work. */
export interface Try {
  /** Aborts at the limit. */
  readonly signal: AbortSignal;
  /** Notes a failure that the client retries by itself: if the time runs out, the last one is the reason. */
  readonly noteFailure: (error: unknown) => void;
}

/**
 * Runs work, and repeats it after a temporary failure until the limit. If only its answer was lost,
 * successful work runs twice. Rejects with the reason of the last failure.
 */
export function retryInTime<T>(
  { ms, endsAt }: OperationLimit,
  { server, isTemporary, explain }: FailureRules,
  work: (one: Try) => Promise<T>,
): Promise<T> {
  const controller = new AbortController();
  let lastFailure: unknown;
  const noteFailure = (error: unknown): void => {
    lastFailure = error;
  };
  const reasonOfTimeout = (): Error =>
    lastFailure === undefined ? new Error(`${server} did not answer in ${ms} ms`) : explain(lastFailure);
  const tryAgain = async (pauseMs: number): Promise<T> => {
    try {
      return await work({ signal: controller.signal, noteFailure });
    } catch (error) {
      noteFailure(error);
      const waitMs = jittered(pauseMs);
      if (!isTemporary(error) || performance.now() + waitMs >= endsAt) throw explain(error);
      await pause(waitMs);
      return tryAgain(2 * pauseMs);
    }
  };
  const leftMs = endsAt - performance.now();
  if (leftMs <= 0) return Promise.reject(reasonOfTimeout());
  return withTimeLimit(tryAgain(FIRST_PAUSE_MS), leftMs, () => {
    const reason = reasonOfTimeout();
    controller.abort(reason);
    return reason;
  });
}
