import { UnavailableError } from '../errors.ts';
import { performance } from '../timing/process-clock.ts';
import { Timer } from '../timing/timer.ts';
import type { LeaseRequest, RenewResult } from './store.ts';
import type { TimeLimitedStore } from './time-limited.ts';

/** After this many confirmations, each of which took half a lease or longer, the claim is given up. */
const MOST_CONFIRMATIONS = 3;

/** Called once when another token has the id (`lost`), or when the event was completed. */
export type OnTaken = (state: 'lost' | 'completed') => void;

/** The lease of a run or of a key. */
export interface Lease {
  /** The last answer of the store. */
  readonly state: RenewResult['state'];
  /**
   * True if the lease must be confirmed before handlers run on it: since it began, the event loop may have
   * been blocked, or a letter may have taken long to write.
   */
  readonly needsConfirmation: boolean;
  /**
   * True if no renewal was sent for as long as the lease, because the event loop was blocked, and the store
   * has not answered one since: another process may have taken the event. A silent store does not count.
   */
  readonly missedRenewal: boolean;
  /**
   * Asks the store, once for all that call it meanwhile. Rejects if the store does not answer, or if half of
   * the lease was over again after each answer.
   */
  confirm(): Promise<void>;
  /**
   * Renews the lease each time that a third of it is over, until `stop` is called. A store that fails or is
   * late interrupts nothing: the lease may well hold, and the next renewal will show it. The process stays
   * alive for the renewals unless `keepsAlive` is false.
   */
  keep(onTaken: OnTaken, options?: { readonly keepsAlive?: boolean }): void;
  stop(): void;
}

/** The lease of a run without a claim, under `onStoreFailure: 'process'`. It is never lost. */
export const unstoredLease: Lease = {
  state: 'held',
  needsConfirmation: false,
  missedRenewal: false,
  confirm: () => Promise.resolve(),
  keep: () => {},
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
  /** Undefined unless the lease is kept. */
  #onTaken: OnTaken | undefined;

  /** `since` is when the claim was sent, by the monotonic clock. */
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
  keep(onTaken: OnTaken, { keepsAlive = true }: { readonly keepsAlive?: boolean } = {}): void {
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
    // Over several connections, an answer may come after the answer to a later question.
    if (askedAt < this.#heldSince) return;
    this.#hasMissedRenewal = false;
    this.#state = state;
    if (state === 'held') this.#heldSince = askedAt;
  }
}

/** True if a letter may be written, or its event completed, on the lease; confirms it if necessary. */
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
