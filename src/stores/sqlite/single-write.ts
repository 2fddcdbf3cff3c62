import { performance } from '../../receiver/timing/process-clock.ts';
import { BUSY, type SqliteConnection } from './connection.ts';
import { lockedError, turnError } from './errors.ts';
import type { WriteKind } from './write-queue.ts';

/** The limits of a write that waits for its turn and for the lock. */
export interface WriteLimit {
  readonly limitMs: number;
  readonly signal?: AbortSignal;
  /** Makes the error of a write that has waited for too long. */
  readonly toError?: (late: Error) => Error;
}

/** Runs a transaction of its own when it is its turn. Rejects with the error that the work throws. */
export function writeInTurn<T>(
  connection: SqliteConnection,
  kind: WriteKind,
  { limitMs, signal, toError = (late) => late }: WriteLimit,
  work: () => T | typeof BUSY,
): Promise<T> {
  const endsAt = performance.now() + limitMs;
  let wasTried = false;
  let isDone = false;
  return new Promise((resolve, reject) => {
    const attempt = (): boolean => {
      wasTried = true;
      try {
        const result = work();
        if (result === BUSY) return false;
        resolve(result);
      } catch (error) {
        reject(error);
      }
      isDone = true;
      return true;
    };
    const stillWaits = (now: number): boolean => {
      if (isDone) return false;
      if (signal?.aborted) reject(signal.reason);
      else if (now >= endsAt) reject(toError(wasTried ? lockedError(limitMs) : turnError(limitMs)));
      else return true;
      return false;
    };
    connection.writes.add(kind, { limitMs, attempt, stillWaits });
  });
}
