import type { ServerOperation } from './server-store.ts';

/** The most claims without an answer that are remembered for their releases. */
const MAX_UNANSWERED = 1_000;

/** An operation, and the promise of its result. */
export class PendingOperation {
  readonly operation: ServerOperation;
  readonly result: Promise<string>;
  settle: (result: string) => void = () => {};
  fail: (error: unknown) => void = () => {};
  /** When the pool first had a client for it. */
  sentAt: number | undefined;
  /** How often PostgreSQL has refused it, or the statement that it shared. */
  refusals = 0;
  /** PostgreSQL has refused it as late. */
  wasLate = false;
  readonly #limitMs: number;
  readonly #startedAt: number = performance.now();

  constructor(operation: ServerOperation, limitMs: number) {
    this.operation = operation;
    this.#limitMs = limitMs;
    this.result = new Promise((settle, fail) => {
      this.settle = settle;
      this.fail = fail;
    });
  }

  get isClaim(): boolean {
    return this.operation.name === 'claim';
  }

  /**
   * When it must have been answered. A claim that was never sent cannot have taken its id, so it may wait
   * for as long as its caller says. Its time limit counts from the sending.
   */
  get endsAt(): number {
    if (!this.isClaim) return this.#startedAt + this.#limitMs;
    if (this.sentAt !== undefined) return this.sentAt + this.#limitMs;
    return this.#startedAt + Math.max(this.operation.waitMs ?? 0, this.#limitMs);
  }

  /** How long it waited before it was sent. */
  get waitedMs(): number {
    return this.sentAt === undefined ? 0 : this.sentAt - this.#startedAt;
  }

  /** Whether it is a claim of the same token on the same id. */
  isClaimOf({ key, token }: ServerOperation): boolean {
    return this.operation.token === token && this.operation.key === key && this.isClaim;
  }
}

/** The operations that wait for a client of the pool, and the claims that wait for an answer. */
export class PendingOperations {
  /** Completions, releases and renewals: each of them frees an id, or keeps one that would be lost. */
  readonly #urgent = new Set<PendingOperation>();
  /** Claims, and operations that PostgreSQL has refused: these must not hold up all others again. */
  readonly #others = new Set<PendingOperation>();
  /** The claims that wait, by their tokens: in a burst a search among all would cost each event too much. */
  readonly #waitingClaims = new Map<string, Set<PendingOperation>>();
  /** Claims that were sent. One whose answer never came may have taken its id. */
  readonly #unanswered = new Set<PendingOperation>();

  /** How many wait for a client. */
  get size(): number {
    return this.#urgent.size + this.#others.size;
  }

  add(pending: PendingOperation): void {
    this.#queueOf(pending).add(pending);
    if (!pending.isClaim) return;
    const { token } = pending.operation;
    const ofToken = this.#waitingClaims.get(token) ?? new Set();
    this.#waitingClaims.set(token, ofToken.add(pending));
  }

  /** Takes out an operation that waits no longer. */
  delete(pending: PendingOperation): void {
    this.#queueOf(pending).delete(pending);
    if (!pending.isClaim) return;
    const { token } = pending.operation;
    const ofToken = this.#waitingClaims.get(token);
    ofToken?.delete(pending);
    if (ofToken?.size === 0) this.#waitingClaims.delete(token);
  }

  /**
   * Takes the operations that are to be sent next, in the order of their keys: two statements that lock the
   * same rows cannot deadlock.
   */
  takeBatch(maxSize: number): readonly PendingOperation[] {
    const now = performance.now();
    const batch: PendingOperation[] = [];
    for (const pending of this.#inOrder()) {
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
  noteAnswered(pending: PendingOperation): void {
    this.#unanswered.delete(pending);
  }

  /** Drops the claims of the same token that wait for a client; true if there were any. */
  dropClaims(operation: ServerOperation): boolean {
    const ofToken = this.#waitingClaims.get(operation.token) ?? [];
    const claims = [...ofToken].filter((claim) => claim.isClaimOf(operation));
    for (const claim of claims) {
      this.delete(claim);
      claim.fail(new Error('it was given up before it was sent'));
    }
    return claims.length > 0;
  }

  /** Waits for the answers to the claims of the same token that were sent; true if there were any. */
  async untilAnswered(operation: ServerOperation): Promise<boolean> {
    if (this.#unanswered.size === 0) return false;
    const claims = [...this.#unanswered].filter((claim) => claim.isClaimOf(operation));
    await Promise.allSettled(claims.map(({ result }) => result));
    for (const claim of claims) this.#unanswered.delete(claim);
    return claims.length > 0;
  }

  *#inOrder(): Generator<PendingOperation> {
    yield* this.#urgent;
    yield* this.#others;
  }

  #queueOf(pending: PendingOperation): Set<PendingOperation> {
    return pending.isClaim || pending.refusals > 0 ? this.#others : this.#urgent;
  }

  #noteSent(claim: PendingOperation): void {
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
