import { isHold } from '../../src/receiver/dedupe/claim-token.ts';
import type {
  ClaimedResult,
  ClaimRequest,
  ClaimResult,
  CompleteRequest,
  CompleteResult,
  LeaseRequest,
  PeekRequest,
  PeekResult,
  ReleaseRequest,
  ReleaseResult,
  RenewResult,
  Store,
} from '../../src/receiver/dedupe/store.ts';
import type { Awaitable } from '../../src/receiver/timing/awaitable.ts';
import { clock } from './clock.ts';

/** Performs the operations of a store, and notes all that its answers say about the one id. */
export class StoreRecord {
  state: 'absent' | 'processing' | 'released' | 'completed' = 'absent';
  /** Of the last claim. */
  token: string | undefined;
  /** The answer to the last claim. */
  claimed: ClaimedResult | undefined;
  /** The token of the claim that the last one has counted as abandoned, if it has counted one. */
  abandoned: string | undefined;
  /** A claim that is not a run was counted as an attempt, or as abandoned. */
  hasCountedHold = false;
  /** When the id was claimed first, and when a claim last counted as an attempt. */
  firstClaimedAt = 0;
  countedAt = 0;
  /** True once a completion has been recorded, whatever a mistaken store says later. */
  wasCompleted = false;
  /** Names of the handlers that have finished. */
  handled: readonly string[] = [];
  /** Until when the store has promised the id to each token. */
  readonly #leases: Map<string, number> = new Map();

  /** Until when the last claim holds. */
  get leaseEndsAt(): number {
    return this.state === 'processing' && this.token !== undefined ? this.leaseOf(this.token) : 0;
  }

  /** Until when the store has promised the id to a token. */
  leaseOf(token: string): number {
    return this.#leases.get(token) ?? 0;
  }

  /** Everything that a later answer depends on. */
  get facts(): readonly unknown[] {
    const { state, token, claimed, countedAt, firstClaimedAt, handled, leaseEndsAt } = this;
    if (state === 'completed' || claimed === undefined) return [state];
    const { attempt, spacedAttempts, abandoned } = claimed;
    return [
      state,
      token,
      leaseEndsAt,
      attempt,
      spacedAttempts,
      abandoned,
      countedAt,
      firstClaimedAt,
      handled,
    ];
  }

  claim(store: Store, request: ClaimRequest): ClaimResult {
    const answer = atOnce(store.claim(request));
    if (answer.state === 'claimed') this.#noteClaim(request, answer);
    return answer;
  }

  #noteClaim({ token, leaseMs }: ClaimRequest, answer: ClaimedResult): void {
    const { token: earlier = '' } = this;
    // A renewal may have made the id, and counted as the first attempt.
    const { attempt = answer.attempt, abandoned = 0 } = this.claimed ?? {};
    this.abandoned = answer.abandoned > abandoned ? earlier : undefined;
    // A claim that is not a run is answered with the number of the next run.
    const most = isHold(earlier) ? attempt : attempt + 1;
    this.hasCountedHold ||= answer.attempt > most || (isHold(earlier) && this.abandoned !== undefined);
    const isCounted = answer.spacedAttempts !== this.claimed?.spacedAttempts;
    if (isCounted) this.countedAt = clock.now;
    this.firstClaimedAt = clock.now - answer.firstClaimedMsAgo;
    this.handled = answer.handled;
    this.claimed = answer;
    this.#hold(token, leaseMs);
  }

  renew(store: Store, request: LeaseRequest): RenewResult {
    const answer = atOnce(store.renew(request));
    if (answer.state === 'held') this.#hold(request.token, request.leaseMs);
    return answer;
  }

  #hold(token: string, leaseMs: number): void {
    this.state = 'processing';
    this.token = token;
    this.#leases.set(token, clock.now + leaseMs);
  }

  complete(store: Store, request: CompleteRequest): CompleteResult {
    this.state = 'completed';
    this.wasCompleted = true;
    return atOnce(store.complete(request));
  }

  release(store: Store, request: ReleaseRequest): ReleaseResult {
    const answer = atOnce(store.release(request));
    if (answer.state !== 'released') return answer;
    this.#leases.delete(request.token);
    this.state = 'released';
    if (request.handled.length > 0) this.handled = [...request.handled];
    return answer;
  }

  peek(store: Store, request: PeekRequest): PeekResult {
    const answer = store.peek === undefined ? undefined : atOnce(store.peek(request));
    return answer ?? { state: 'unknown' };
  }
}

/** The memory store answers at once. */
function atOnce<T>(answer: Awaitable<T>): T {
  if (answer instanceof Promise) throw new TypeError('the memory store has answered with a promise');
  return answer;
}
