import { checkOptions } from '../check-options.ts';
import { ConfigurationError, show } from '../errors.ts';
import { RecentMap } from './recent-map.ts';
import type {
  ClaimRequest,
  ClaimResult,
  CompleteRequest,
  CompleteResult,
  LeaseRequest,
  ReleaseRequest,
  ReleaseResult,
  RenewResult,
  Store,
} from './store.ts';
import { toKey } from './store.ts';

export interface MemoryStoreOptions {
  /**
   * How many ids are remembered at once, 100,000 by default; beyond it the least recently used is forgotten. Claims that are
   * running come on top and are never forgotten.
   */
  readonly maxEntries?: number;
  /** The clock, in milliseconds; `Date.now` by default. */
  readonly now?: () => number;
}

interface OpenRecord {
  token: string;
  attempt: number;
  spacedAttempts: number;
  countedAt: number;
  firstClaimedAt: number;
  abandoned: number;
  handled: readonly string[];
  /** Undefined once released. */
  leaseEndsAt: number | undefined;
  expiresAt: number;
}

/**
 * Remembers ids in this process: all that a single process needs. Its knowledge ends with the process.
 *
 * @throws ConfigurationError for a wrong option.
 */
export function createMemoryStore(options: MemoryStoreOptions = {}): Store {
  checkOptions(options, ['maxEntries', 'now'], 'createMemoryStore');
  const { maxEntries = 100_000, now = Date.now } = options;
  checkValues(maxEntries, now);
  const memory = new Memory(maxEntries, now);
  return {
    claim: (request) => memory.claim(request),
    renew: (request) => memory.renew(request),
    complete: (request) => memory.complete(request),
    release: (request) => memory.release(request),
  };
}

class Memory {
  /** Open records are held while their event may be running. */
  readonly #records: RecentMap<OpenRecord | 'completed'>;
  readonly #now: () => number;

  constructor(maxEntries: number, now: () => number) {
    this.#records = new RecentMap(maxEntries);
    this.#now = now;
  }

  claim(request: ClaimRequest): ClaimResult {
    const key = toKey(request.id);
    const now = this.#now();
    const record = this.#records.get(key, now);
    if (record === 'completed') return { state: 'completed' };
    const msLeft = record === undefined ? 0 : msLeftFor(record, request.token, now);
    if (msLeft > 0) return { state: 'busy', msLeft };
    const claimed = claimRecord(record, request, now);
    this.#records.hold(key, claimed, claimed.expiresAt);
    return claimResult(claimed, now);
  }

  renew({ id, token, leaseMs, retentionMs }: LeaseRequest): RenewResult {
    const key = toKey(id);
    const now = this.#now();
    const record = this.#records.get(key, now);
    if (record === 'completed') return { state: 'completed' };
    if (record !== undefined && (record.token !== token || record.leaseEndsAt === undefined)) {
      return { state: 'lost' };
    }
    const held = claimRecord(record, { id, token, leaseMs, retentionMs }, now);
    this.#records.hold(key, held, held.expiresAt);
    return { state: 'held' };
  }

  complete({ id, retentionMs }: CompleteRequest): CompleteResult {
    const now = this.#now();
    this.#records.remember(toKey(id), 'completed', now + retentionMs, now);
    return { state: 'completed' };
  }

  release({ id, token, retentionMs, handled }: ReleaseRequest): ReleaseResult {
    const key = toKey(id);
    const now = this.#now();
    const record = this.#records.get(key, now);
    if (record === 'completed') return { state: 'completed' };
    if (record === undefined || record.token !== token) return { state: 'lost' };
    record.leaseEndsAt = undefined;
    if (handled.length > 0) record.handled = [...handled];
    record.expiresAt = now + retentionMs;
    this.#records.remember(key, record, record.expiresAt, now);
    return { state: 'released' };
  }
}

/** How long another token's lease still holds. */
function msLeftFor(record: OpenRecord, token: string, now: number): number {
  if (record.token === token || record.leaseEndsAt === undefined) return 0;
  return Math.max(0, record.leaseEndsAt - now);
}

function claimRecord(previous: OpenRecord | undefined, request: ClaimRequest, now: number): OpenRecord {
  if (previous?.token === request.token && previous.leaseEndsAt !== undefined) {
    extend(previous, request.leaseMs, request.retentionMs, now);
    return previous;
  }
  const counts = previous === undefined || now - previous.countedAt >= (request.attemptSpacingMs ?? 0);
  const record: OpenRecord = {
    token: request.token,
    attempt: (previous?.attempt ?? 0) + 1,
    spacedAttempts: (previous?.spacedAttempts ?? 0) + (counts ? 1 : 0),
    countedAt: counts ? now : previous.countedAt,
    firstClaimedAt: previous?.firstClaimedAt ?? now,
    abandoned: (previous?.abandoned ?? 0) + (previous?.leaseEndsAt === undefined ? 0 : 1),
    handled: previous?.handled ?? [],
    leaseEndsAt: undefined,
    expiresAt: 0,
  };
  extend(record, request.leaseMs, request.retentionMs, now);
  return record;
}

function extend(record: OpenRecord, leaseMs: number, retentionMs: number, now: number): void {
  record.leaseEndsAt = now + leaseMs;
  record.expiresAt = now + Math.max(leaseMs, retentionMs);
}

function claimResult(record: OpenRecord, now: number): ClaimResult {
  return {
    state: 'claimed',
    attempt: record.attempt,
    abandoned: record.abandoned,
    firstClaimedMsAgo: now - record.firstClaimedAt,
    handled: record.handled,
    spacedAttempts: record.spacedAttempts,
  };
}

/** They take about a gigabyte. */
const MOST_ENTRIES = 2 ** 24;

function checkValues(maxEntries: unknown, now: unknown): void {
  const isCount = typeof maxEntries === 'number' && Number.isInteger(maxEntries);
  if (!isCount || maxEntries < 1 || maxEntries > MOST_ENTRIES) {
    throw new ConfigurationError(
      `maxEntries must be a whole number from 1 to ${MOST_ENTRIES}, got ${show(maxEntries)}`,
    );
  }
  if (typeof now !== 'function')
    throw new ConfigurationError('now must be a function that returns milliseconds');
}
