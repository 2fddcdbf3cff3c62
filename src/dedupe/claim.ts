import { UnavailableError } from '../errors.ts';
import { messageOf } from '../foreign-values.ts';
import type { Warning } from '../outcomes/report.ts';
import type { Awaitable } from '../timing/awaitable.ts';
import { Timer } from '../timing/time-limit.ts';
import { nextToken } from './claim-token.ts';
import { attemptSpacingMs } from './last-attempt.ts';
import { type RetentionSettings, retentionFor } from './retention.ts';
import { type Completions, retryRelease } from './retries.ts';
import type { ClaimedResult, ClaimResult, LeaseRequest, ReleaseResult, RenewResult } from './store.ts';
import type { TimeLimitedStore } from './time-limited.ts';

/**
 * The longest pause between two claims of an event that another process has. Half of it is random, so that
 * processes spread out.
 */
const POLL_MS = 400;

/** After this many confirmations, each of which took half a lease or longer, the claim is given up. */
const MOST_CONFIRMATIONS = 3;

/** The result of a claim that the store does not answer, under `onStoreFailure: 'process'`. */
const UNCLAIMED: ClaimedResult = {
  state: 'claimed',
  attempt: 1,
  abandoned: 0,
  firstClaimedMsAgo: 0,
  handled: [],
};

/** The settings that a claim needs. */
export interface ClaimSettings extends RetentionSettings {
  readonly leaseMs: number;
  readonly retryScheduleMs: readonly number[];
  readonly onStoreFailure: 'reject' | 'process';
}

/** The services that all claims of a receiver share. */
export interface ClaimServices {
  readonly settings: ClaimSettings;
  readonly store: TimeLimitedStore;
  readonly completions: Completions;
}

/** The event that is claimed. */
export interface ClaimedEvent {
  /** Its id in the store. */
  readonly claimId: string;
  /** In milliseconds since the epoch. */
  readonly createdAt: number;
}

/** How a claim may wait before it is sent. */
export interface ClaimWait {
  /** How long it may wait; 0 if it must not wait for a connection. */
  readonly waitMs?: number | undefined;
  /**
   * Called once if the claim has no answer after `commandTimeoutMs`; returns whether it may wait longer with
   * the event.
   */
  readonly mayWaitLonger?: () => boolean;
}

/** How to wait while another process handles the event. */
export interface PollWait {
  /** Called before each further claim; returns whether a delivery still waits for the answer. */
  readonly isAwaited: () => boolean;
  /** Resolves with the promise, or at once when the run is aborted. */
  readonly orAbort: (promise: Promise<unknown>) => Promise<unknown>;
}

/** One token's claim of an event's id in the store. */
export class Claim {
  readonly #request: LeaseRequest;
  readonly #settings: ClaimSettings;
  readonly #store: TimeLimitedStore;
  readonly #completions: Completions;
  readonly #warnings: Warning[];
  #renewal: Timer | undefined;
  #isRenewing = false;
  /**
   * When the last successful claim or renewal was sent; undefined before the first, and if the handlers run
   * without a claim.
   */
  #heldSince: number | undefined;
  /** When the last claim or renewal was sent, whether or not it succeeded. */
  #askedAt = 0;
  #state: RenewResult['state'] = 'held';
  #confirmations = 0;
  /** When the lease of another token ends, unless it is renewed; 0 if there has been none. */
  #otherEndsAt = 0;
  #released: Promise<ReleaseResult['state'] | undefined> = Promise.resolve(undefined);

  constructor({ claimId, createdAt }: ClaimedEvent, services: ClaimServices, warnings: Warning[]) {
    const { settings } = services;
    this.#settings = settings;
    this.#store = services.store;
    this.#completions = services.completions;
    this.#warnings = warnings;
    this.#request = {
      id: claimId,
      token: nextToken(),
      leaseMs: settings.leaseMs,
      retentionMs: retentionFor(createdAt, settings),
    };
  }

  /**
   * Claims the id. If the store fails, `onStoreFailure` decides: either this rejects, although the store may
   * have granted the claim, or the handlers run without a claim.
   */
  async take(wait: ClaimWait = {}): Promise<ClaimResult> {
    try {
      return this.#noteAnswer(await this.#ask(wait));
    } catch (error) {
      return this.#goOnUnclaimed(error);
    }
  }

  #ask({ waitMs, mayWaitLonger }: ClaimWait = {}): Awaitable<ClaimResult> {
    this.#askedAt = performance.now();
    const { id, token, leaseMs, retentionMs } = this.#request;
    const spacingMs = attemptSpacingMs(this.#settings.retryScheduleMs);
    const request = { id, token, leaseMs, retentionMs, attemptSpacingMs: spacingMs, waitMs };
    return this.#store.claim(request, mayWaitLonger);
  }

  #noteAnswer(result: ClaimResult): ClaimResult {
    if (result.state === 'claimed') {
      // The lease began when the claim was sent. A foreign store may give any number.
      const sentAt = this.#askedAt + (result.waitedMs ?? 0);
      if (sentAt > this.#askedAt && sentAt <= performance.now()) this.#askedAt = sentAt;
      this.#heldSince = this.#askedAt;
      this.#state = 'held';
    }
    if (result.state === 'busy') this.#otherEndsAt = this.#askedAt + result.msLeft;
    return result;
  }

  /** Throws the error unless `onStoreFailure` is `process`. */
  #goOnUnclaimed(error: unknown): ClaimedResult {
    if (this.#settings.onStoreFailure === 'reject') throw error;
    this.#warnings.push(`claimed_nothing: ${messageOf(error)}`);
    this.#heldSince = undefined;
    return UNCLAIMED;
  }

  /**
   * True if the last renewal is older than the lease, because the event loop was blocked: another process may
   * have taken the event.
   */
  get missedRenewal(): boolean {
    return this.#heldSince !== undefined && performance.now() - this.#askedAt >= this.#settings.leaseMs;
  }

  /**
   * True if the claim must be confirmed before handlers run on it: since it was made, the event loop may have
   * been blocked, or a letter may have taken long to write.
   */
  get isOld(): boolean {
    if (this.#heldSince === undefined || this.#state !== 'held') return false;
    return performance.now() - this.#heldSince > this.#settings.leaseMs / 2;
  }

  /** The last answer of the store. */
  get state(): RenewResult['state'] {
    return this.#state;
  }

  /** How long the lease of another token still holds, unless it is renewed; 0 if that is unknown. */
  get msUntilOtherEnds(): number {
    return Math.max(0, this.#otherEndsAt - performance.now());
  }

  /**
   * Renews a claim that is old. If the store does not answer, or answers too slowly to be of use,
   * `onStoreFailure` decides.
   */
  async confirm(): Promise<void> {
    try {
      if (this.#confirmations === MOST_CONFIRMATIONS) throw leaseTooShort(this.#settings.leaseMs);
      this.#confirmations += 1;
      await this.#renew();
    } catch (error) {
      this.#goOnUnclaimed(error);
    }
  }

  async #renew(): Promise<void> {
    const askedAt = performance.now();
    this.#askedAt = askedAt;
    const { state } = await this.#store.renew(this.#request);
    // Over several connections, an answer may come after the answer to a later question.
    if (this.#heldSince !== undefined && askedAt < this.#heldSince) return;
    this.#state = state;
    if (state === 'held') this.#heldSince = askedAt;
  }

  /**
   * While another process has the id, claims it again until the event is completed, the lease has ended, or
   * no delivery waits any more (`busy`). Store failures do not end the waiting, because the event is known to
   * be running. A claim that failed may have taken the id all the same, so the id is released at the end.
   */
  async waitForOther(first: ClaimResult, wait: PollWait): Promise<ClaimResult> {
    const startedAt = performance.now();
    let result = first;
    let isUnsure = false;
    while (result.state === 'busy') {
      const pauseMs = Math.min(POLL_MS, result.msLeft + 1) * (0.5 + Math.random() / 2);
      await pause(pauseMs, wait.orAbort);
      if (!wait.isAwaited()) break;
      const busy = result;
      try {
        result = this.#noteAnswer(await this.#ask());
      } catch {
        isUnsure = true;
        result = busy;
      }
    }
    if (result.state === 'busy' && isUnsure) void this.release([]);
    // A store counts in whole milliseconds, so a lease may end within one more.
    const isExpired = result.state === 'claimed' && result.abandoned > 0 && this.msUntilOtherEnds <= 1;
    if (isExpired) this.#warnings.push(leaseAwaited(performance.now() - startedAt));
    return result;
  }

  /**
   * Renews the lease from now on, each time after a third of it, until `stopRenewing`. Calls `onTaken`, once,
   * when another token has the id (`lost`) or the event was completed. A store that fails or is late aborts
   * nothing: the lease may well hold, and the next renewal will show it. Without a claim there is nothing to
   * renew.
   */
  startRenewing(onTaken: (state: 'lost' | 'completed') => void): void {
    if (this.#heldSince === undefined) return;
    this.#isRenewing = true;
    this.#renewAfterThird(onTaken);
  }

  #renewAfterThird(onTaken: (state: 'lost' | 'completed') => void): void {
    this.#renewal?.clear();
    this.#renewal = new Timer(
      performance.now() + this.#settings.leaseMs / 3,
      () => void this.#renewInTime(onTaken),
    );
  }

  stopRenewing(): void {
    this.#isRenewing = false;
    this.#renewal?.clear();
  }

  async #renewInTime(onTaken: (state: 'lost' | 'completed') => void): Promise<void> {
    await this.#renew().catch(() => {});
    if (!this.#isRenewing) return;
    if (this.#state === 'held') this.#renewAfterThird(onTaken);
    else onTaken(this.#state);
  }

  /**
   * Records that the event was handled. Resolves with false if the store has not recorded it yet: see
   * {@link Completions}.
   */
  complete(): Promise<boolean> {
    return this.#completions.record(this.#request);
  }

  /**
   * Releases the id. Resolves with undefined if the store does not answer: the release is then tried again.
   */
  async release(handled: Iterable<string>): Promise<ReleaseResult['state'] | undefined> {
    const request = () => ({ ...this.#request, handled: [...handled] });
    try {
      const { state } = await this.#store.release(request());
      this.#released = Promise.resolve(state);
      return state;
    } catch (error) {
      this.#warnings.push(`release_failed: ${messageOf(error)}`);
      this.#released = retryRelease(this.#store, this.#settings.leaseMs, request);
      return undefined;
    }
  }

  /** Resolves with the store's answer to the last release, or with undefined once the tries have ended. */
  released(): Promise<ReleaseResult['state'] | undefined> {
    return this.#released;
  }
}

/** Without it, the log would not say why the retry of a killed run was slow. */
function leaseAwaited(waitedMs: number): Warning {
  return `lease_awaited: this run waited ${Math.round(waitedMs)} ms for the lease (leaseMs) of an earlier one, which did not end: its process was killed or frozen, or its event loop was blocked`;
}

function leaseTooShort(leaseMs: number): UnavailableError {
  return new UnavailableError(
    'store_unavailable',
    `the store took longer to renew a lease than half of leaseMs (${leaseMs}), ${MOST_CONFIRMATIONS} times in a row`,
  );
}

async function pause(ms: number, orAbort: PollWait['orAbort']): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const elapsed = new Promise((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await orAbort(elapsed);
  clearTimeout(timer);
}
