import { createHash } from 'node:crypto';
import type { Awaitable } from '../timing/awaitable.ts';

/**
 * Claims, renews, completes and releases the ids of events. Each operation is atomic, and repeating one with
 * the same token does no harm: a command that timed out may still have run, or run later. A result comes at
 * once or as a promise. Times are in milliseconds of the store's own clock.
 *
 * An id is absent, claimed (by a token, until its lease ends), released or completed. An id whose lease has
 * ended, or that was released, is free, and keeps its attempts and the names of the handlers that have
 * succeeded. A completed id stays so. `retentionMs` counts from the last operation that has changed the id;
 * then it is absent again, but not while a lease holds.
 *
 * `storeConformance` of `posthorn/testing` checks an implementation, and `examples/mysql-store.ts` of
 * the package is one for MySQL to begin with.
 */
export interface Store {
  /** The time after which an operation counts as failed; 2,000 by default. */
  readonly commandTimeoutMs?: number;
  /**
   * Takes the id for `token`, unless it is completed or another token's lease still holds.
   *
   * A token that begins with `hold:` takes it without a run, for example for an operator. Such a claim does
   * not count as an attempt, and not as abandoned when its lease runs out; its `attempt` is the number that
   * the next run will have.
   */
  claim(request: ClaimRequest): Awaitable<ClaimResult>;
  /**
   * Extends the lease. An absent id is created; an expired lease is renewed, unless another token has taken
   * the id.
   */
  renew(request: LeaseRequest): Awaitable<RenewResult>;
  /** Writes `completed`, whoever holds the lease now: the event was handled. */
  complete(request: CompleteRequest): Awaitable<CompleteResult>;
  /**
   * Ends the lease of its owner; keeps the attempts and the names of the handlers that have succeeded.
   * `receiver.health` calls it with an id that was never claimed, to see whether the store answers: that must
   * write nothing.
   */
  release(request: ReleaseRequest): Awaitable<ReleaseResult>;
  /**
   * Tells the state of an id, and changes nothing: it does not count as an attempt, and does not extend any
   * time. Without this method the receiver claims the id instead, and releases it.
   */
  peek?(request: PeekRequest): Awaitable<PeekResult>;
  /**
   * True if the store keeps to `refuseClaimsMs` of a release. The receiver releases an uncertain claim of
   * any other store once more, after `commandTimeoutMs`.
   */
  readonly refusesLateClaims?: boolean;
  /**
   * Returns true if an operation that begins now would wait for a connection. The receiver then counts the
   * body of the event in `maxBufferedBytes`; if it does not fit, the operation gets 0 as `waitMs`. A store
   * that never waits leaves this method out.
   */
  mustWait?(): boolean;
  /**
   * True if claims may wait before they are sent, for example for a client of a pool, and a release drops a
   * waiting claim of its token. In a burst such a claim gets a large `waitMs`, most of its delivery's time,
   * and waits for as long as the store answers other operations.
   */
  readonly queuesClaims?: boolean;
  /**
   * Returns true if the store has worked for another process within `commandTimeoutMs`. Then claims go on
   * waiting, although this process got no answer. A store that cannot know that leaves this method out.
   */
  isAtWork?(): boolean;
}

/** The request of `complete`. All but that of `peek` extend it. */
export interface CompleteRequest {
  /** The id, of any length. */
  readonly id: string;
  /** Names the claim; unique to it. */
  readonly token: string;
  /** The time for which the id is remembered from now. */
  readonly retentionMs: number;
  /**
   * The time that the operation may wait for a connection before it is sent; by default as long as the store
   * permits. With 0, an operation that cannot be sent now fails at once. A store that never waits ignores it.
   */
  readonly waitMs?: number | undefined;
}

/** The request of `renew`. */
export interface LeaseRequest extends CompleteRequest {
  /** The time for which the claim holds from now. */
  readonly leaseMs: number;
}

/** The request of `claim`. */
export interface ClaimRequest extends LeaseRequest {
  /**
   * Claims closer to the last counted one than this do not add to `spacedAttempts`; 0 by default. A claim
   * that seems earlier than that one counts: the clock of the store was set back.
   */
  readonly attemptSpacingMs?: number;
  /**
   * The time that the claim may wait before it is sent, for a connection or for its turn; `commandTimeoutMs`
   * by default. Once it is sent it has `commandTimeoutMs`. With 0, a claim that cannot be sent without a
   * connection fails at once. A store that never waits ignores the option.
   */
  readonly waitMs?: number | undefined;
}

/** The request of `release`. */
export interface ReleaseRequest extends CompleteRequest {
  /**
   * Names of the handlers that have succeeded in this attempt or an earlier one. An empty list changes
   * nothing: the names of an earlier release are kept.
   */
  readonly handled: readonly string[];
  /**
   * The time from now for which the store refuses claims of this token, as busy, whoever has the id; by
   * default 0. It is given if a claim of the token got no answer, because that claim may arrive later. A
   * renewal of the token that arrives later then does not create the id.
   */
  readonly refuseClaimsMs?: number | undefined;
}

/** The request of `peek`. */
export type PeekRequest = Pick<CompleteRequest, 'id' | 'waitMs'>;

/** The answer of `claim`: the id is claimed now, another token holds it, or its event was handled before. */
export type ClaimResult =
  | ClaimedResult
  | { readonly state: 'busy' /** The time until the owner's lease ends. */; readonly msLeft: number }
  | { readonly state: 'completed' };

/** The answer of `claim` to the new owner of an id. */
export interface ClaimedResult {
  /** The id now belongs to the token. */
  readonly state: 'claimed';
  /** This claim's number, from 1. */
  readonly attempt: number;
  /** The number of earlier claims that ended because their lease ran out. */
  readonly abandoned: number;
  /** The time since the id was claimed for the first time, in milliseconds; 0 for the first claim. */
  readonly firstClaimedMsAgo: number;
  /** Names of the handlers that had succeeded, from the last release that named any. */
  readonly handled: readonly string[];
  /** Like `attempt`, but claims in quick succession count once. A store that leaves it out counts each. */
  readonly spacedAttempts?: number;
  /**
   * The time that the claim had waited before it was sent, in milliseconds: its lease began no earlier. A
   * store leaves it out if the claim did not wait for long.
   */
  readonly waitedMs?: number;
}

/** The answer of `renew`. */
export interface RenewResult {
  /** `lost`: another token has the id, or this one has released it. */
  readonly state: 'held' | 'lost' | 'completed';
}

/** The answer of `complete`. */
export interface CompleteResult {
  /** The only answer: `complete` cannot be refused. */
  readonly state: 'completed';
}

/** The answer of `peek`. */
export interface PeekResult {
  /** `unknown`: the id is absent or released, or the lease of its claim has run out. */
  readonly state: 'unknown' | 'running' | 'completed';
}

/** The answer of `release`. */
export interface ReleaseResult {
  /** `lost`: the token does not have the id, so there was nothing to release. */
  readonly state: 'released' | 'lost' | 'completed';
}

const MAX_KEY_LENGTH = 64;
const DIGEST_PREFIX = 'sha256:';

/**
 * An id of any length as a key of at most 64 characters: itself, or its digest. Different ids get different
 * keys, lone surrogates included: JSON can spell them, but in UTF-8 they would all become the same character.
 * No key has a NUL character, which PostgreSQL refuses in a text.
 */
export function toKey(id: string): string {
  const isPlain = !id.startsWith(DIGEST_PREFIX) && !id.includes('\u0000') && id.isWellFormed();
  if (isPlain && id.length <= MAX_KEY_LENGTH) return id;
  return DIGEST_PREFIX + createHash('sha256').update(id, 'utf16le').digest('base64url');
}
