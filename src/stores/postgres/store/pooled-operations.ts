import { performance } from '../../../receiver/timing/process-clock.ts';
import { PendingOperation, PendingOperations } from '../../kit/pending-operations.ts';
import type { ServerOperation } from '../../kit/server-store.ts';

/** The most claims without an answer that are remembered for their releases. */
const MAX_UNANSWERED = 1_000;

/** An operation that waits for a client of the pool. */
export class PooledOperation extends PendingOperation {
  /** The number of times that PostgreSQL has refused it, or the statement that it shared. */
  refusals = 0;
  /** PostgreSQL has refused it as late. */
  wasLate = false;
  readonly #limitMs: number;

  constructor(operation: ServerOperation, limitMs: number) {
    super(operation);
    this.#limitMs = limitMs;
  }

  /** An operation that was refused must not hold up all others again. */
  override get isUrgent(): boolean {
    return super.isUrgent && this.refusals === 0;
  }

  /**
   * When it must have been answered. A claim that was never sent cannot have taken its id, so it may wait
   * for as long as its caller says. Its time limit counts from the sending.
   */
  get endsAt(): number {
    if (!this.isClaim) return this.waitingSince + this.#limitMs;
    if (this.sentAt !== undefined) return this.sentAt + this.#limitMs;
    return this.waitingSince + Math.max(this.operation.waitMs ?? 0, this.#limitMs);
  }
}

/** The operations that wait for a client of the pool, and the claims that wait for an answer. */
export class PooledOperations extends PendingOperations<PooledOperation> {
  /** Claims that were sent. One whose answer never came may have taken its id. */
  readonly #unanswered = new Set<PooledOperation>();

  /**
   * Takes the operations that are to be sent next, in the order of their keys: two statements that lock the
   * same rows cannot deadlock.
   */
  takeBatch(maxSize: number): readonly PooledOperation[] {
    const now = performance.now();
    const batch: PooledOperation[] = [];
    for (const pending of this) {
      // One that was refused must not fail others again.
      const goesAlone = pending.refusals > 0;
      if (goesAlone && batch.length > 0) break;
      this.delete(pending);
      if (pending.endsAt <= now) continue;
      pending.sentAt ??= now;
      if (pending.isClaim) this.#noteSent(pending);
      batch.push(pending);
      if (goesAlone || batch.length === maxSize) break;
    }
    return batch.sort((one, other) => compare(one.operation.key, other.operation.key));
  }

  /** Forgets a claim of which it is known whether it has taken its id. */
  noteAnswered(pending: PooledOperation): void {
    this.#unanswered.delete(pending);
  }

  /** Forgets the claims of the same token that were sent; true if there were any. */
  takeUnanswered(operation: ServerOperation): boolean {
    if (this.#unanswered.size === 0) return false;
    const claims = [...this.#unanswered].filter((claim) => claim.isClaimOf(operation));
    for (const claim of claims) this.#unanswered.delete(claim);
    return claims.length > 0;
  }

  #noteSent(claim: PooledOperation): void {
    this.#unanswered.add(claim);
    if (this.#unanswered.size <= MAX_UNANSWERED) return;
    const [oldest = claim] = this.#unanswered;
    this.#unanswered.delete(oldest);
  }
}

function compare(one: string, other: string): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}
