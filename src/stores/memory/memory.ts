import { checkOptions, readInteger } from '../../receiver/checks/check-options.ts';
import type {
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
} from '../../receiver/dedupe/store.ts';
import { toKey } from '../../receiver/dedupe/store.ts';
import { ConfigurationError } from '../../receiver/errors.ts';
import { readClock } from '../../receiver/timing/clock.ts';
import { performance } from '../../receiver/timing/process-clock.ts';
import { TransientMap } from '../../receiver/timing/transient-map.ts';
import { propertyOf } from '../../receiver/values/foreign-values.ts';
import {
  afterFirstClaim,
  afterForeignRelease,
  afterNextClaim,
  afterOwnRelease,
  attemptOf,
  type ClaimTerms,
  isRenewable,
  msUntilFree,
  stateOf,
  type UncompletedId,
} from '../kit/claim-rule.ts';
import { RecentIds } from './recent-ids.ts';

/** Options of `createMemoryStore`. */
export interface MemoryStoreOptions {
  /**
   * The most ids that are remembered at once, 100,000 by default; beyond it the least recently used is
   * forgotten: exactly up to 131,072, and above that within one percent or so. Claims that are running are
   * not counted, and are never forgotten.
   */
  readonly maxEntries?: number | undefined;
  /**
   * The clock, in milliseconds; by default a monotonic one, which no correction of the system's clock moves.
   * If it throws, or returns something other than a number, the operation of the store fails.
   */
  readonly now?: (() => number) | undefined;
}

type OpenRecord = UncompletedId<readonly string[]>;

/** Longer than nearly all leases, and shorter than the retention of nearly all events. */
const LONGEST_BRIEF_MS = 300_000;

/**
 * Remembers ids in this process, which is all that a single process needs. The ids are forgotten when the
 * process ends, and several processes need a store that they share.
 *
 * @throws ConfigurationError for a wrong option.
 */
export function createMemoryStore(options: MemoryStoreOptions = {}): Store {
  checkOptions(options, ['maxEntries', 'now'], 'createMemoryStore');
  const { maxEntries = 100_000, now = monotonicNow } = options;
  checkValues(maxEntries, now);
  const clock = options.now === undefined ? now : () => readClock(now, 'now of createMemoryStore');
  const memory = new Memory(maxEntries, clock);
  const store: Store = {
    claim: (request) => memory.claim(request),
    renew: (request) => memory.renew(request),
    complete: (request) => memory.complete(request),
    release: (request) => memory.release(request),
    peek: (request) => memory.peek(request),
    refusesLateClaims: true,
  };
  return Object.defineProperty(store, MEMORY_STORE, { value: true });
}

/** A symbol of both builds of posthorn, because the receiver of the other build may get this store. */
const MEMORY_STORE = Symbol.for('posthorn.memoryStore');

/** Returns true if `createMemoryStore` has made this store. */
export function isMemoryStore(store: Store): boolean {
  return propertyOf(store, MEMORY_STORE) === true;
}

/** Leases, retention and the times between attempts are durations, so no date is needed. */
function monotonicNow(): number {
  return performance.now();
}

class Memory {
  /**
   * Claims that are neither completed nor released: their events may be running, so they are never evicted.
   */
  readonly #claims = new TransientMap<string, OpenRecord>();
  /** Completed and released ids. */
  readonly #recent: RecentIds<OpenRecord>;
  /**
   * Ids that are released for a short time, as concurrency keys are. Among the others they would push out
   * completed ids, although they expire soon. Undefined until there is one.
   */
  #brief: RecentIds<OpenRecord> | undefined;
  readonly #maxEntries: number;
  readonly #now: () => number;

  constructor(maxEntries: number, now: () => number) {
    this.#recent = new RecentIds(maxEntries);
    this.#maxEntries = maxEntries;
    this.#now = now;
  }

  /** Takes an id for a token, unless it is completed or the lease of another token holds. */
  claim(request: ClaimRequest): ClaimResult {
    const key = toKey(request.id);
    const now = this.#now();
    const record = this.#find(key, now);
    if (record === 'completed') return { state: 'completed' };
    const msLeft = record === undefined ? 0 : msUntilFree(record, request.token, now);
    if (msLeft > 0) return { state: 'busy', msLeft };
    const claimed = claimRecord(record, request, now);
    if (record !== undefined) this.#forget(key);
    this.#claims.set(key, claimed);
    return claimResult(claimed, now);
  }

  renew(request: LeaseRequest): RenewResult {
    const key = toKey(request.id);
    const now = this.#now();
    const record = this.#find(key, now);
    if (record === 'completed') return { state: 'completed' };
    if (record !== undefined && !isRenewable(record, request.token, now)) return { state: 'lost' };
    if (record !== undefined) this.#forget(key);
    this.#claims.set(key, claimRecord(record, request, now));
    return { state: 'held' };
  }

  /** Marks an id as completed. */
  complete({ id, retentionMs }: CompleteRequest): CompleteResult {
    const key = toKey(id);
    const now = this.#now();
    this.#claims.delete(key);
    this.#brief?.delete(key);
    this.#recent.set(key, now + retentionMs, now);
    return { state: 'completed' };
  }

  /** Frees an id for the next attempt, if the token is that of its last claim. */
  release({ id, token, retentionMs, handled, refuseClaimsMs = 0 }: ReleaseRequest): ReleaseResult {
    const key = toKey(id);
    const now = this.#now();
    const record = this.#find(key, now);
    if (record === 'completed') return { state: 'completed' };
    const names = handled.length > 0 ? [...handled] : undefined;
    const terms = { token, retentionMs, handled: names, refuseClaimsMs };
    if (record !== undefined && record.token === token) {
      this.#claims.delete(key);
      this.#remember(key, afterOwnRelease(record, terms, now), now);
      return { state: 'released' };
    }
    if (refuseClaimsMs > 0) this.#refuse(key, afterForeignRelease(record, [], terms, now), now);
    return { state: 'lost' };
  }

  peek({ id }: PeekRequest): PeekResult {
    const now = this.#now();
    const record = this.#find(toKey(id), now);
    return { state: record === 'completed' ? record : stateOf(record, now) };
  }

  #refuse(key: string, record: OpenRecord, now: number): void {
    if (this.#claims.get(key) === undefined) this.#remember(key, record, now);
    else this.#claims.set(key, record);
  }

  #remember(key: string, record: OpenRecord, now: number): void {
    this.#forget(key);
    this.#idsFor(record.expiresAt - now).set(key, record, now);
  }

  #idsFor(retentionMs: number): RecentIds<OpenRecord> {
    if (retentionMs > LONGEST_BRIEF_MS) return this.#recent;
    this.#brief ??= new RecentIds(this.#maxEntries);
    return this.#brief;
  }

  #forget(key: string): void {
    this.#recent.delete(key);
    this.#brief?.delete(key);
  }

  /** The state of an id: its open or released record, or `'completed'`. */
  #find(key: string, now: number): OpenRecord | 'completed' | undefined {
    const claim = this.#claims.get(key);
    if (claim !== undefined) {
      if (claim.expiresAt > now) return claim;
      this.#claims.delete(key);
      return undefined;
    }
    const remembered = this.#recent.get(key, now) ?? this.#brief?.get(key, now);
    return typeof remembered === 'number' ? 'completed' : remembered;
  }
}

function claimRecord(found: OpenRecord | undefined, terms: ClaimTerms, now: number): OpenRecord {
  return found === undefined ? afterFirstClaim(terms, [], now) : afterNextClaim(found, terms, now);
}

function claimResult(record: OpenRecord, now: number): ClaimResult {
  const { abandoned, firstClaimedAt, handled, spacedAttempts } = record;
  return {
    state: 'claimed',
    attempt: attemptOf(record),
    abandoned,
    firstClaimedMsAgo: now - firstClaimedAt,
    handled,
    spacedAttempts,
  };
}

/** This many ids take about a gigabyte. */
const MOST_ENTRIES = 2 ** 24;

function checkValues(maxEntries: unknown, now: unknown): void {
  readInteger('maxEntries', maxEntries, { most: MOST_ENTRIES });
  if (typeof now !== 'function')
    throw new ConfigurationError('now must be a function that returns milliseconds');
}
