import { UnavailableError } from '../errors.ts';
import { performance } from '../timing/process-clock.ts';
import { Timer } from '../timing/timer.ts';
import type { LeaseRequest, RenewResult } from './store.ts';
import type { TimeLimitedStore } from './time-limited.ts';

/** The claim is given up after this many confirmations in a row that each took half a lease or longer. */
const MOST_CONFIRMATIONS = 3;

/** Called once, if another token has the id (`lost`) or the event was completed. */
export type OnTaken = (state: 'lost' | 'completed') => void;

/** The lease of a run or of a key. */
export interface Lease {
  /** The state by the last answer of the store. */
  readonly state: RenewResult['state'];
  /**
   * True if the lease must be confirmed before handlers run on it: half of it may be over, because the event
   * loop was blocked or a dead letter took long to write.
   */
  readonly needsConfirmation: boolean;
  /**
   * True if the event loop was blocked for so long that another process may have taken the event: no renewal
   * was sent for as long as the lease, and none has succeeded since. A silent store alone does not make it
   * true.
   */
  readonly missedRenewal: boolean;
  /**
   * Renews the lease; concurrent calls share one renewal. Rejects if the store does not answer, or after
   * three confirmations in a row that each took half of the lease.
   */
  confirm(): Promise<void>;
  /**
   * Renews the lease whenever a third of it is over, until `stop` is called. A renewal that fails changes
   * nothing: the lease may well hold, and the next renewal will show that. The renewals keep the process
   * alive unless `keepsAlive` is false.
   */
  startRenewing(onTaken: OnTaken, options?: { readonly keepsAlive?: boolean }): void;
  stop(): void;
}

/** The part of a lease by which handlers may begin. */
export type ConfirmableLease = Pick<Lease, 'state' | 'needsConfirmation' | 'confirm'>;

/** The lease of a run without a claim, under `onStoreFailure: 'process'`. It is never lost. */
export const unstoredLease: Lease = {
  state: 'held',
  needsConfirmation: false,
  missedRenewal: false,
  confirm: () => Promise.resolve(),
  startRenewing: () => {},
  stop: () => {},
};

/** The lease of a claim that the store has granted. */
export class StoredLease implements Lease {
  readonly #request: LeaseRequest;
  readonly #store: TimeLimitedStore;
  #state: RenewResult['state'] = 'held';
  /** When the last claim or renewal that succeeded was sent. */
  #heldSince: number;
  /** When the last claim or renewal was sent. */
  #askedAt: number;
  #hasMissedRenewal = false;
  #confirmations = 0;
  #confirming: Promise<void> | undefined;
  #keepsAlive = true;
  #renewal: Timer | undefined;
  /** Undefined unless the lease is being renewed. */
  #onTaken: OnTaken | undefined;

  /** `since` is the time when the claim was sent, by the monotonic clock. */
  constructor(request: LeaseRequest, store: TimeLimitedStore, since: number) {
    this.#request = request;
    this.#store = store;
    this.#heldSince = since;
    this.#askedAt = since;
  }

  get state(): RenewResult['state'] {
    return this.#state;
  }

  get needsConfirmation(): boolean {
    return this.#state === 'held' && performance.now() - this.#heldSince > this.#request.leaseMs / 2;
  }

  get missedRenewal(): boolean {
    return this.#hasMissedRenewal || performance.now() - this.#askedAt >= this.#request.leaseMs;
  }

  confirm(): Promise<void> {
    this.#confirming ??= this.#confirmOnce().finally(() => {
      this.#confirming = undefined;
    });
    return this.#confirming;
  }

  async #confirmOnce(): Promise<void> {
    if (this.#confirmations === MOST_CONFIRMATIONS) throw leaseTooShort(this.#request.leaseMs);
    this.#confirmations += 1;
    await this.#renew();
    if (!this.needsConfirmation) this.#confirmations = 0;
  }

  /** Renews the lease each time that a third of it is over. */
  startRenewing(onTaken: OnTaken, { keepsAlive = true }: { readonly keepsAlive?: boolean } = {}): void {
    this.#onTaken = onTaken;
    this.#keepsAlive = keepsAlive;
    this.#renewAfterThird();
  }

  /** Ends the renewals. */
  stop(): void {
    this.#onTaken = undefined;
    this.#renewal?.clear();
  }

  #renewAfterThird(): void {
    this.#renewal?.clear();
    const dueAt = performance.now() + this.#request.leaseMs / 3;
    const options = { keepsAlive: this.#keepsAlive };
    this.#renewal = new Timer(dueAt, () => void this.#renewInTime(), options);
  }

  async #renewInTime(): Promise<void> {
    await this.#renew().catch(() => {});
    if (this.#onTaken === undefined) return;
    if (this.#state === 'held') this.#renewAfterThird();
    else this.#onTaken(this.#state);
  }

  async #renew(): Promise<void> {
    const askedAt = performance.now();
    this.#hasMissedRenewal = this.missedRenewal;
    this.#askedAt = askedAt;
    const { state } = await this.#store.renew(this.#request);
    // Over several connections, an answer may come after the answer to a later renewal.
    if (askedAt < this.#heldSince) return;
    this.#hasMissedRenewal = false;
    this.#state = state;
    if (state === 'held') this.#heldSince = askedAt;
  }
}

/** Resolves with true if the lease holds. Confirms it if necessary. */
export async function isHeld(lease: Lease): Promise<boolean> {
  while (lease.needsConfirmation) await lease.confirm();
  return lease.state === 'held';
}

function leaseTooShort(leaseMs: number): UnavailableError {
  return new UnavailableError(
    'store_unavailable',
    `the store took longer to renew a lease than half of leaseMs (${leaseMs}), ${MOST_CONFIRMATIONS} times in a row`,
  );
}
