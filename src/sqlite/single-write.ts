import { BUSY, type SqliteConnection } from './connection.ts';
import { lockedError, turnError } from './sqlite-errors.ts';
import type { QueuedWrite } from './write-queue.ts';

/** How long a write may wait for its turn and for the lock. */
export interface WriteLimit {
  readonly limitMs: number;
  readonly signal?: AbortSignal;
  /** Makes the error of a write that has waited for too long. */
  readonly toError?: (late: Error) => Error;
}

/** Runs one operation of the letters when it is its turn. Rejects with what the work throws. */
export function writeOperation<T>(
  connection: SqliteConnection,
  limit: WriteLimit,
  work: () => T | typeof BUSY,
): Promise<T> {
  return new Promise((settle, fail) => {
    connection.writes.addOperation(new SingleWrite(work, limit, settle, fail));
  });
}

/** Does the same for the run of an inbox. */
export function writeRun<T>(
  connection: SqliteConnection,
  limit: WriteLimit,
  work: () => T | typeof BUSY,
): Promise<T> {
  return new Promise((settle, fail) => {
    connection.writes.addRun(new SingleWrite(work, limit, settle, fail));
  });
}

/** A transaction of its own. */
class SingleWrite<T> implements QueuedWrite {
  readonly limitMs: number;
  readonly #work: () => T | typeof BUSY;
  readonly #limit: WriteLimit;
  readonly #settle: (result: T) => void;
  readonly #fail: (error: unknown) => void;
  readonly #endsAt: number;
  #wasTried = false;
  #isDone = false;

  constructor(
    work: () => T | typeof BUSY,
    limit: WriteLimit,
    settle: (result: T) => void,
    fail: (error: unknown) => void,
  ) {
    this.#work = work;
    this.limitMs = limit.limitMs;
    this.#limit = limit;
    this.#settle = settle;
    this.#fail = fail;
    this.#endsAt = performance.now() + limit.limitMs;
  }

  readonly attempt = (): boolean => {
    this.#wasTried = true;
    try {
      const result = this.#work();
      if (result === BUSY) return false;
      this.#settle(result);
    } catch (error) {
      this.#fail(error);
    }
    this.#isDone = true;
    return true;
  };

  readonly stillWaits = (now: number): boolean => {
    const { limitMs, signal, toError = (late) => late } = this.#limit;
    if (this.#isDone) return false;
    if (signal?.aborted) this.#fail(signal.reason);
    else if (now >= this.#endsAt)
      this.#fail(toError(this.#wasTried ? lockedError(limitMs) : turnError(limitMs)));
    else return true;
    return false;
  };
}
