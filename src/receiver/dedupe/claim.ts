import type { Warning } from '../outcomes/report.ts';
import type { RetryRules } from '../provider/retry-rules.ts';
import type { Awaitable } from '../timing/awaitable.ts';
import { performance } from '../timing/process-clock.ts';
import { setUnrefTimeout } from '../timing/unref-timeout.ts';
import { messageOf } from '../values/foreign-values.ts';
import { nextToken } from './claim-token.ts';
import { type ConfirmableLease, type Lease, StoredLease, unstoredLease } from './lease.ts';
import { type RetentionSettings, retentionFor } from './retention.ts';
import { type Completions, retryRelease } from './retries.ts';
import type { ClaimedResult, ClaimResult, LeaseRequest, ReleaseRequest, ReleaseResult } from './store.ts';
import type { TimeLimitedStore } from './time-limited.ts';

/** The answer to a claim. Only a granted claim has a lease. */
export type ClaimReply = Granted | Busy | { readonly state: 'completed' };

/** The id is claimed. */
export interface Granted {
  readonly state: 'claimed';
  readonly result: ClaimedResult;
  readonly lease: Lease;
}

/** Another process has the id. */
export interface Busy {
  readonly state: 'busy';
  /** When its lease ends, unless it is renewed, by the monotonic clock; 0 if that is unknown. */
  readonly endsAt: number;
}

/** Takes the place of a granted claim if the store fails, under `onStoreFailure: 'process'`. */
const UNCLAIMED: Granted = {
  state: 'claimed',
  result: { state: 'claimed', attempt: 1, abandoned: 0, firstClaimedMsAgo: 0, handled: [] },
  lease: unstoredLease,
};

/** The answer to a release. */
export interface Released {
  /** Undefined if the store has not answered. The release is then repeated: see `late`. */
  readonly state: ReleaseResult['state'] | undefined;
  /** The answer to a repeated release, or undefined if there is none after the last repetition. */
  readonly late?: Promise<ReleaseResult['state'] | undefined>;
}

/** The services that all claims of a receiver share. */
export interface ClaimServices {
  readonly settings: RetentionSettings & {
    readonly leaseMs: number;
    readonly retries: Pick<RetryRules, 'spacingMs'>;
    readonly onStoreFailure: 'reject' | 'process';
  };
  readonly store: TimeLimitedStore;
  readonly completions: Completions;
}

/** An id to claim, and how long to keep it. */
export interface ClaimedId {
  /** The id in the store: see `claim-id.ts`. */
  readonly claimId: string;
  /** The time for which the store remembers the id. */
  readonly retentionMs: number;
  /** True if nothing may run without this claim, whatever `onStoreFailure` says; false by default. */
  readonly isRequired?: boolean | undefined;
}

export interface ClaimedEvent extends Pick<ClaimedId, 'claimId'> {
  /** When the event was created, in milliseconds since the epoch, if that is known. */
  readonly createdAtMs?: number | undefined;
}

/** Returns the id of an event, to be remembered as long as the event may come again. */
export function claimedId({ claimId, createdAtMs }: ClaimedEvent, settings: RetentionSettings): ClaimedId {
  return { claimId, retentionMs: retentionFor(createdAtMs, settings) };
}

/** The wait of a claim before it is sent. */
interface ClaimWait {
  /** The time that it may wait; 0 if it must not wait for a connection. */
  readonly waitMs?: number | undefined;
  /**
   * Called whenever another `commandTimeoutMs` has passed without an answer. Returns true if the event may
   * wait longer.
   */
  readonly mayWaitLonger?: () => boolean;
}

/** Claims an id in the store with one token. */
export class Claim {
  readonly #request: LeaseRequest;
  readonly #services: ClaimServices;
  readonly #warnings: Warning[];
  readonly #onStoreFailure: ClaimServices['settings']['onStoreFailure'];
  /** True once a claim got no answer: the store may have granted it, or may still do so. */
  #isUncertain = false;

  constructor(
    { claimId, retentionMs, isRequired = false }: ClaimedId,
    services: ClaimServices,
    warnings: Warning[],
    token: string = nextToken(),
  ) {
    const { settings } = services;
    this.#services = services;
    this.#warnings = warnings;
    this.#onStoreFailure = isRequired ? 'reject' : settings.onStoreFailure;
    this.#request = {
      id: claimId,
      token,
      leaseMs: settings.leaseMs,
      retentionMs,
    };
  }

  /**
   * Claims the id. If the store fails, `onStoreFailure` decides: either this rejects, or the handlers run
   * without a claim.
   */
  async takeOrProceedUnclaimed(wait?: ClaimWait): Promise<ClaimReply> {
    const askedAt = performance.now();
    try {
      return this.#toReply(await this.#send(wait), askedAt);
    } catch (error) {
      this.#isUncertain = true;
      return this.#proceedUnclaimed(error);
    }
  }

  /** Claims the id. Rejects if the store fails, although the store may have granted the claim. */
  async take(): Promise<ClaimReply> {
    const askedAt = performance.now();
    try {
      return this.#toReply(await this.#send(), askedAt);
    } catch (error) {
      this.#isUncertain = true;
      throw error;
    }
  }

  #send({ waitMs, mayWaitLonger }: ClaimWait = {}): Awaitable<ClaimResult> {
    const { id, token, leaseMs, retentionMs } = this.#request;
    const { spacingMs } = this.#services.settings.retries;
    const request = { id, token, leaseMs, retentionMs, attemptSpacingMs: spacingMs, waitMs };
    return this.#services.store.claim(request, mayWaitLonger);
  }

  #toReply(result: ClaimResult, askedAt: number): ClaimReply {
    if (result.state === 'completed') return result;
    if (result.state === 'busy') return { state: 'busy', endsAt: askedAt + result.msLeft };
    // The lease began when the claim was sent. A store of the user may give any number.
    const sentAt = askedAt + (result.waitedMs ?? 0);
    const since = sentAt > askedAt && sentAt <= performance.now() ? sentAt : askedAt;
    const lease = new StoredLease(this.#request, this.#services.store, since);
    return { state: 'claimed', result, lease };
  }

  /** Throws the error unless `onStoreFailure` is `process`. */
  #proceedUnclaimed(error: unknown): Granted {
    if (this.#onStoreFailure === 'reject') throw error;
    this.#warnings.push(`claimed_nothing: ${messageOf(error)}`);
    return UNCLAIMED;
  }

  /**
   * Confirms a lease, and resolves with the lease that handlers may run on. If the store does not confirm it
   * in time, `onStoreFailure` decides. Its renewal continues all the same, because it may well hold.
   */
  async confirmOrProceedUnclaimed(lease: ConfirmableLease): Promise<ConfirmableLease> {
    try {
      await lease.confirm();
      return lease;
    } catch (error) {
      return this.#proceedUnclaimed(error).lease;
    }
  }

  /**
   * Records that the event was handled. Resolves with false if the store has not recorded it yet: see
   * {@link Completions}.
   */
  complete(): Promise<boolean> {
    return this.#services.completions.record(this.#request);
  }

  /**
   * Releases the id. Never rejects: if the store does not answer, the release is repeated in the background.
   *
   * A claim without an answer may reach the store after the release of its token. The store then refuses it,
   * or it is released once more.
   */
  async release(handled: Iterable<string>): Promise<Released> {
    const { settings, store } = this.#services;
    const { leaseMs } = settings;
    const refuseClaimsMs = this.#isUncertain ? leaseMs : undefined;
    const request = (): ReleaseRequest => ({ ...this.#request, handled: [...handled], refuseClaimsMs });
    if (this.#isUncertain && !store.refusesLateClaims)
      setUnrefTimeout(() => void retryRelease(store, leaseMs, request), store.commandTimeoutMs);
    try {
      return await store.release(request());
    } catch (error) {
      this.#warnings.push(`release_failed: ${messageOf(error)}`);
      return { state: undefined, late: retryRelease(store, leaseMs, request) };
    }
  }
}
