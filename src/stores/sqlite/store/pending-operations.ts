import type { ServerOperation } from '../../kit/server-store.ts';
import { lockedError, turnError } from '../errors.ts';

/** An operation is given up a little before its receiver does that: only here it is known why. */
const SHARE_OF_LIMIT = 0.95;

/** The result of an operation, and how long it had waited before it ran. */
export interface Answer {
  readonly result: string;
  readonly waitedMs: number;
}

/** An operation that waits for its transaction. */
export interface PendingOperation {
  readonly operation: ServerOperation;
  /** By the monotonic clock. */
  readonly startedAt: number;
  readonly settle: (answer: Answer) => void;
  readonly fail: (cause: unknown) => void;
}

/** The operations that wait, each kind in its order. */
export class PendingOperations {
  readonly #limitMs: number;
  /** Completions, releases and renewals: each of them frees an id, or keeps one that would be lost. */
  readonly #urgent = new Set<PendingOperation>();
  readonly #claims = new Set<PendingOperation>();

  constructor(limitMs: number) {
    this.#limitMs = limitMs;
  }

  get size(): number {
    return this.#urgent.size + this.#claims.size;
  }

  add(pending: PendingOperation): void {
    const { name } = pending.operation;
    if (name === 'release') this.#dropClaims(pending.operation);
    (name === 'claim' ? this.#claims : this.#urgent).add(pending);
  }

  /** The operations that are to run next. They wait until they are deleted. */
  first(maxSize: number): readonly PendingOperation[] {
    const first = [...this.#urgent].slice(0, maxSize);
    for (const claim of this.#claims) {
      if (first.length === maxSize) break;
      first.push(claim);
    }
    return first;
  }

  delete(pending: PendingOperation): void {
    this.#urgent.delete(pending);
    this.#claims.delete(pending);
  }

  /** Gives up what has waited for too long; `lastTurnAt` is the end of the last turn. */
  giveUpLate(now: number, lastTurnAt: number): void {
    for (const pending of [...this.#urgent, ...this.#claims]) {
      const error = this.#lateError(pending, now, lastTurnAt);
      if (error === undefined) continue;
      this.delete(pending);
      pending.fail(error);
    }
  }

  /**
   * A claim cannot have taken its id before it runs, so it may wait for as long as its caller says, while
   * this process or others write to the file: then nobody keeps the lock for long.
   */
  #lateError({ operation, startedAt }: PendingOperation, now: number, lastTurnAt: number): Error | undefined {
    const limitMs = this.#limitMs * SHARE_OF_LIMIT;
    const { name, waitMs = 0 } = operation;
    if (name !== 'claim' || waitMs <= limitMs)
      return now - startedAt >= limitMs ? lockedError(this.#limitMs) : undefined;
    if (now - Math.max(startedAt, lastTurnAt) >= limitMs) return lockedError(this.#limitMs);
    return now - startedAt >= waitMs ? turnError(waitMs) : undefined;
  }

  /** A claim whose caller has given up must not take its id after its release. */
  #dropClaims({ key, token }: ServerOperation): void {
    for (const pending of this.#claims) {
      if (pending.operation.token !== token || pending.operation.key !== key) continue;
      this.#claims.delete(pending);
      pending.fail(new Error('it was given up before its turn'));
    }
  }
}
