import assert from 'node:assert/strict';
import fc from 'fast-check';
import type {
  ClaimRequest,
  ClaimResult,
  CompleteRequest,
  LeaseRequest,
  PeekRequest,
  PeekResult,
  ReleaseRequest,
  ReleaseResult,
  RenewResult,
  Store,
} from 'posthorn';
import { storeOperations } from './store-operations.ts';

/** What an id carries from claim to claim. */
interface History {
  readonly attempt: number;
  readonly spacedAttempts: number;
  readonly lastCountedAt: number;
  readonly firstClaimedAt: number;
  readonly abandoned: number;
  readonly handled: readonly string[];
}

const NO_HISTORY: History = {
  attempt: 0,
  spacedAttempts: 0,
  lastCountedAt: 0,
  firstClaimedAt: 0,
  abandoned: 0,
  handled: [],
};

type State =
  | { readonly kind: 'absent' }
  | {
      readonly kind: 'processing';
      readonly token: string;
      readonly leaseEndsAt: number;
      readonly history: History;
    }
  | { readonly kind: 'released'; readonly token: string; readonly history: History }
  | { readonly kind: 'completed' };

/** A store that goes by the clocks of its clients lets leases and retentions end only after an allowance. */
export interface ModelOptions {
  readonly allowanceMs: number;
}

const isHold = (token: string): boolean => token.startsWith('hold:');

/**
 * What the design says of a store, in the plainest form: an id is absent, being processed, released or
 * completed, and refuses claims of some tokens. A lease, a retention or a refusal of N ms holds for the N ms
 * from its start.
 */
export class StoreModel {
  now = 0;
  readonly #allowanceMs: number;
  readonly #states = new Map<string, { readonly state: State; readonly forgetAt: number }>();
  /** The end of the refusal of each id and token. */
  readonly #refusals = new Map<string, number>();

  constructor({ allowanceMs }: ModelOptions = { allowanceMs: 0 }) {
    this.#allowanceMs = allowanceMs;
  }

  claim({ id, token, leaseMs, retentionMs, attemptSpacingMs = 0 }: ClaimRequest): ClaimResult {
    const state = this.#read(id);
    if (state.kind === 'completed') return { state: 'completed' };
    const isOwner = state.kind === 'processing' && state.token === token;
    const msLeased = isOwner ? 0 : this.#msLeased(state);
    const msLeft = msLeased > 0 ? msLeased : this.#msRefused(id, token);
    if (msLeft > 0) return { state: 'busy', msLeft };
    const history = isOwner ? state.history : this.#nextClaim(state, token, attemptSpacingMs);
    return this.#take(id, token, leaseMs, retentionMs, history);
  }

  renew({ id, token, leaseMs, retentionMs }: LeaseRequest): RenewResult {
    const state = this.#read(id);
    if (state.kind === 'completed') return { state: 'completed' };
    if (state.kind === 'released') return { state: 'lost' };
    if (state.kind === 'processing' && state.token !== token) return { state: 'lost' };
    if (this.#msRefused(id, token) > 0) return { state: 'lost' };
    const history = state.kind === 'absent' ? this.#nextClaim(state, token, 0) : state.history;
    this.#take(id, token, leaseMs, retentionMs, history);
    return { state: 'held' };
  }

  complete({ id, retentionMs }: CompleteRequest): { readonly state: 'completed' } {
    this.#write(id, { kind: 'completed' }, retentionMs);
    return { state: 'completed' };
  }

  release({ id, token, retentionMs, handled, refuseClaimsMs = 0 }: ReleaseRequest): ReleaseResult {
    const state = this.#read(id);
    if (state.kind === 'completed') return { state: 'completed' };
    if (refuseClaimsMs > 0) this.#refusals.set(`${id} ${token}`, this.now + refuseClaimsMs);
    if (state.kind === 'absent' || state.token !== token) return { state: 'lost' };
    const history = handled.length === 0 ? state.history : { ...state.history, handled };
    this.#write(id, { kind: 'released', token, history }, retentionMs);
    return { state: 'released' };
  }

  peek({ id }: PeekRequest): PeekResult {
    const state = this.#read(id);
    if (state.kind === 'completed') return { state: 'completed' };
    return { state: this.#msLeased(state) > 0 ? 'running' : 'unknown' };
  }

  /** Returns false if the store would forget the id first, and then perhaps later because of the refusal. */
  outlasts({ id, refuseClaimsMs = 0 }: ReleaseRequest): boolean {
    if (refuseClaimsMs === 0 || this.#read(id).kind === 'absent') return true;
    return (this.#states.get(id)?.forgetAt ?? 0) >= this.now + refuseClaimsMs;
  }

  #msLeased(state: State): number {
    return state.kind === 'processing' ? state.leaseEndsAt + this.#allowanceMs - this.now : 0;
  }

  #msRefused(id: string, token: string): number {
    const endsAt = this.#refusals.get(`${id} ${token}`);
    return endsAt === undefined ? 0 : endsAt + this.#allowanceMs - this.now;
  }

  #read(id: string): State {
    const entry = this.#states.get(id);
    return entry === undefined || this.now >= entry.forgetAt + this.#allowanceMs
      ? { kind: 'absent' }
      : entry.state;
  }

  #write(id: string, state: State, retentionMs: number): void {
    this.#states.set(id, { state, forgetAt: this.now + retentionMs });
  }

  #take(id: string, token: string, leaseMs: number, retentionMs: number, history: History): ClaimResult {
    this.#write(id, { kind: 'processing', token, leaseEndsAt: this.now + leaseMs, history }, retentionMs);
    const { abandoned, handled, spacedAttempts, firstClaimedAt } = history;
    const attempt = history.attempt + (isHold(token) ? 1 : 0);
    const firstClaimedMsAgo = this.now - firstClaimedAt;
    return { state: 'claimed', attempt, abandoned, firstClaimedMsAgo, handled, spacedAttempts };
  }

  /** Before the first run the id was first claimed by the last hold. */
  #nextClaim(state: Exclude<State, { kind: 'completed' }>, token: string, attemptSpacingMs: number): History {
    const { now } = this;
    const former = state.kind === 'absent' ? NO_HISTORY : state.history;
    const isAbandoned = state.kind === 'processing' && !isHold(state.token);
    const history = {
      ...former,
      firstClaimedAt: former.attempt === 0 ? now : former.firstClaimedAt,
      abandoned: former.abandoned + (isAbandoned ? 1 : 0),
    };
    if (isHold(token)) return history;
    const counts = former.attempt === 0 || now - former.lastCountedAt >= attemptSpacingMs;
    return {
      ...history,
      attempt: former.attempt + 1,
      spacedAttempts: former.spacedAttempts + (counts ? 1 : 0),
      lastCountedAt: counts ? now : former.lastCountedAt,
    };
  }
}

/** A store whose clock the commands turn. */
export interface ClockedStore {
  readonly store: Store;
  readonly advance: (ms: number) => void;
}

interface Answer {
  readonly state: string;
  readonly handled?: readonly string[];
}

/**
 * Names of handlers are a set: neither their order nor a repetition says anything. A claim waits for longer
 * on a slow machine.
 */
export function comparable(result: Answer): object {
  return { ...result, waitedMs: undefined, handled: [...new Set(result.handled)].sort() };
}

type Command = fc.AsyncCommand<StoreModel, ClockedStore>;

/** Has all that any operation reads. */
type Request = ClaimRequest & ReleaseRequest;

const operations = [...storeOperations, 'peek'] as const;

/** Runs an operation on the model and on the store, and compares the results. */
function command(operation: (typeof operations)[number], request: Request): Command {
  return {
    check: (model) => operation !== 'release' || model.outlasts(request),
    run: async (model, { store }) => {
      const result = await store[operation]?.(request);
      assert.deepEqual(comparable(result ?? { state: 'missing' }), comparable(model[operation](request)));
    },
    toString: () => `${operation} ${JSON.stringify(request)}`,
  };
}

function advance(ms: number): Command {
  return {
    check: () => true,
    run: async (model, real) => {
      model.now += ms;
      real.advance(ms);
    },
    toString: () => `advance ${ms}`,
  };
}

/**
 * Interleavings of all operations and of time. Few ids, tokens and times, so that they meet; one retention,
 * above every lease, because the design does not say what becomes of an id whose retention is shortened.
 */
export function storeCommands(
  { allowanceMs }: ModelOptions = { allowanceMs: 0 },
): fc.Arbitrary<Iterable<Command>> {
  const request: fc.Arbitrary<Request> = fc.record({
    id: fc.constantFrom('evt_1', 'x'.repeat(200), `${'x'.repeat(199)}y`),
    token: fc.constantFrom('t1', 't2', 'hold:t3', 'hold:t4'),
    retentionMs: fc.constant(1_000),
    leaseMs: fc.constantFrom(100, 250),
    attemptSpacingMs: fc.constantFrom(0, 200),
    handled: fc.subarray(['book', 'mail', 'naïve "x"']),
    refuseClaimsMs: fc.constantFrom(undefined, 100, 250),
  });
  const times = [1, 50, 99, 100, 150, 199, 200, 250, 900, 999, 1_000, 1_001];
  return fc.commands(
    [
      ...operations.map((operation) => request.map((one) => command(operation, one))),
      fc
        .constantFrom(...times, ...(allowanceMs === 0 ? [] : times.map((ms) => allowanceMs + ms)))
        .map(advance),
    ],
    { size: '+1' },
  );
}
