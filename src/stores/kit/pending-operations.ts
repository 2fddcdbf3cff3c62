import { performance } from '../../receiver/timing/process-clock.ts';
import { Deferred } from './deferred.ts';
import type { ServerAnswer, ServerOperation } from './server-store.ts';

/** An operation that waits for its batch, and the promise of its answer. */
export class PendingOperation {
  readonly operation: ServerOperation;
  /** When it began to wait, by the monotonic clock. */
  readonly waitingSince: number = performance.now();
  /** When it was sent. The answer says how long it had waited until then. */
  sentAt: number | undefined;
  readonly #answer = new Deferred<ServerAnswer>();

  constructor(operation: ServerOperation) {
    this.operation = operation;
  }

  get answer(): Promise<ServerAnswer> {
    return this.#answer.promise;
  }

  get isClaim(): boolean {
    return this.operation.name === 'claim';
  }

  /** True if the operation goes before claims. Most of these free an id or keep a lease. */
  get isUrgent(): boolean {
    return !this.isClaim;
  }

  settle(text: string): void {
    const { waitingSince, sentAt = waitingSince } = this;
    this.#answer.resolve({ text, waitedMs: sentAt - waitingSince });
  }

  fail(reason: unknown): void {
    this.#answer.reject(reason);
  }

  /** Returns true for a claim of the same token on the same id. */
  isClaimOf({ key, token }: ServerOperation): boolean {
    return this.operation.token === token && this.operation.key === key && this.isClaim;
  }
}

/** The waiting operations: the urgent ones first, and both kinds in the order of their arrival. */
export class PendingOperations<Pending extends PendingOperation> {
  readonly #urgent = new Set<Pending>();
  readonly #others = new Set<Pending>();
  /** The waiting claims by their tokens, because in a burst a search among all would take too long. */
  readonly #claims = new Map<string, Set<Pending>>();

  get size(): number {
    return this.#urgent.size + this.#others.size;
  }

  *[Symbol.iterator](): Generator<Pending> {
    yield* this.#urgent;
    yield* this.#others;
  }

  add(pending: Pending): void {
    this.#queueOf(pending).add(pending);
    if (!pending.isClaim) return;
    const { token } = pending.operation;
    const ofToken = this.#claims.get(token) ?? new Set();
    this.#claims.set(token, ofToken.add(pending));
  }

  /** Removes an operation that no longer waits. */
  delete(pending: Pending): void {
    this.#queueOf(pending).delete(pending);
    const { token } = pending.operation;
    const ofToken = this.#claims.get(token);
    ofToken?.delete(pending);
    if (ofToken?.size === 0) this.#claims.delete(token);
  }

  /**
   * Removes the claims of the same token on the same id, and fails them: a claim whose caller has given up
   * must not take its id later. Returns true if there were any.
   */
  dropClaims(operation: ServerOperation, reason: string): boolean {
    const ofToken = this.#claims.get(operation.token) ?? [];
    const claims = [...ofToken].filter((claim) => claim.isClaimOf(operation));
    for (const claim of claims) {
      this.delete(claim);
      claim.fail(new Error(reason));
    }
    return claims.length > 0;
  }

  #queueOf(pending: Pending): Set<Pending> {
    return pending.isUrgent ? this.#urgent : this.#others;
  }
}
