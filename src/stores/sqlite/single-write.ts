import { BUSY, type SqliteConnection } from './connection.ts';
import { lockedError, turnError } from './errors.ts';
import type { QueuedWrite, WriteKind } from './write-queue.ts';

/** The limits of a write that waits for its turn and for the lock. */
export interface WriteLimit {
  readonly limitMs: number;
  readonly signal?: AbortSignal;
  /** Makes the error of a write that has waited for too long. */
  readonly toError?: (late: Error) => Error;
}

/** Runs a transaction when it is its turn. Rejects with the error that the work throws. */
export function writeInTurn<T>(
  connection: SqliteConnection,
  kind: WriteKind,
  limit: WriteLimit,
  work: () => T | typeof BUSY,
): Promise<T> {
  return new Promise((settle, fail) => {
    connection.writes.add(kind, new SingleWrite(work, limit, settle, fail));
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
