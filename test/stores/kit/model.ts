import assert from 'node:assert/strict';
import fc from 'fast-check';
import type {
  ClaimRequest,
  ClaimResult,
  CompleteRequest,
  LeaseRequest,
  ReleaseRequest,
  ReleaseResult,
  RenewResult,
  Store,
} from 'posthorn';
import { type StoreOperation, storeOperations } from './store-operations.ts';

/** What an id carries from claim to claim. */
interface History {
  readonly attempt: number;
  readonly spacedAttempts: number;
  readonly lastCountedAt: number;
  readonly firstClaimedAt: number;
  readonly abandoned: number;
  readonly handled: readonly string[];
}

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

/**
 * What the design says of a store, in the plainest form: an id is absent, being processed, released or
 * completed. A lease or a retention of N ms holds for the N ms from its start.
 */
export class StoreModel {
  now = 0;
  readonly #allowanceMs: number;
  readonly #states = new Map<string, { readonly state: State; readonly forgetAt: number }>();

  constructor({ allowanceMs }: ModelOptions = { allowanceMs: 0 }) {
    this.#allowanceMs = allowanceMs;
  }

  claim({ id, token, leaseMs, retentionMs, attemptSpacingMs = 0 }: ClaimRequest): ClaimResult {
    const state = this.#read(id);
    switch (state.kind) {
      case 'completed':
        return { state: 'completed' };
      case 'absent':
        return this.#take(id, token, leaseMs, retentionMs, this.#firstClaim());
      case 'released':
        return this.#take(
          id,
          token,
          leaseMs,
          retentionMs,
          this.#nextClaim(state.history, attemptSpacingMs, 0),
        );
      case 'processing': {
        const { history } = state;
        if (state.token === token) return this.#take(id, token, leaseMs, retentionMs, history);
        const msLeft = state.leaseEndsAt + this.#allowanceMs - this.now;
        if (msLeft > 0) return { state: 'busy', msLeft };
        return this.#take(id, token, leaseMs, retentionMs, this.#nextClaim(history, attemptSpacingMs, 1));
      }
    }
  }

  renew({ id, token, leaseMs, retentionMs }: LeaseRequest): RenewResult {
    const state = this.#read(id);
    if (state.kind === 'completed') return { state: 'completed' };
    if (state.kind === 'released') return { state: 'lost' };
    if (state.kind === 'processing' && state.token !== token) return { state: 'lost' };
    const history = state.kind === 'absent' ? this.#firstClaim() : state.history;
    this.#take(id, token, leaseMs, retentionMs, history);
    return { state: 'held' };
  }

  complete({ id, retentionMs }: CompleteRequest): { readonly state: 'completed' } {
    this.#write(id, { kind: 'completed' }, retentionMs);
    return { state: 'completed' };
  }

  release({ id, token, retentionMs, handled }: ReleaseRequest): ReleaseResult {
    const state = this.#read(id);
    if (state.kind === 'completed') return { state: 'completed' };
    if (state.kind === 'absent' || state.token !== token) return { state: 'lost' };
    const history = handled.length === 0 ? state.history : { ...state.history, handled };
    this.#write(id, { kind: 'released', token, history }, retentionMs);
    return { state: 'released' };
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
    const { attempt, abandoned, handled, spacedAttempts, firstClaimedAt } = history;
    const firstClaimedMsAgo = this.now - firstClaimedAt;
    return { state: 'claimed', attempt, abandoned, firstClaimedMsAgo, handled, spacedAttempts };
  }

  #firstClaim(): History {
    const { now } = this;
    return {
      attempt: 1,
      spacedAttempts: 1,
      lastCountedAt: now,
      firstClaimedAt: now,
      abandoned: 0,
      handled: [],
    };
  }

  #nextClaim(history: History, attemptSpacingMs: number, abandoned: 0 | 1): History {
    const counts = this.now - history.lastCountedAt >= attemptSpacingMs;
    return {
      ...history,
      attempt: history.attempt + 1,
      spacedAttempts: history.spacedAttempts + (counts ? 1 : 0),
      lastCountedAt: counts ? this.now : history.lastCountedAt,
      abandoned: history.abandoned + abandoned,
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
 * Names of handlers are a set: neither their order nor a repetition says anything. A claim waits for longer on a
 * slow machine.
 */
function comparable(result: Answer): object {
  return { ...result, waitedMs: undefined, handled: [...new Set(result.handled)].sort() };
}

type Command = fc.AsyncCommand<StoreModel, ClockedStore>;

/** Has all that any operation reads. */
type Request = ClaimRequest & ReleaseRequest;

/** Runs an operation on the model and on the store, and compares the results. */
function command(operation: StoreOperation, request: Request): Command {
  return {
    check: () => true,
    run: async (model, { store }) => {
      assert.deepEqual(comparable(await store[operation](request)), comparable(model[operation](request)));
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
    token: fc.constantFrom('t1', 't2', 't3'),
    retentionMs: fc.constant(1_000),
    leaseMs: fc.constantFrom(100, 250),
    attemptSpacingMs: fc.constantFrom(0, 200),
    handled: fc.subarray(['book', 'mail', 'naïve "x"']),
  });
  const times = [1, 50, 99, 100, 150, 199, 200, 250, 900, 999, 1_000, 1_001];
  return fc.commands(
    [
      ...storeOperations.map((operation) => request.map((one) => command(operation, one))),
      fc
        .constantFrom(...times, ...(allowanceMs === 0 ? [] : times.map((ms) => allowanceMs + ms)))
        .map(advance),
    ],
    { size: '+1' },
  );
}
