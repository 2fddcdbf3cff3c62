import { Semaphore } from '../../../receiver/timing/semaphore.ts';
import { Deferred } from '../../kit/deferred.ts';
import { ROW_PAUSE_MS, type RunLimits } from './time-limits.ts';

/**
 * The keys of `latest` that have runs in this process. Only one waiting run of a key tries to lock the row in
 * PostgreSQL; the others wait here, in the order of their arrival. If each of them tried, they would take the
 * connections of runs that could go on.
 */
export class LatestKeys {
  readonly #keys = new Map<string, LatestKey>();

  /** Adds a run of a key, which must leave in the end. */
  enter(name: string): KeyRun {
    const key = this.#keys.get(name) ?? new LatestKey(() => this.#keys.delete(name));
    this.#keys.set(name, key);
    return new KeyRun(key);
  }
}

class LatestKey {
  /** The permit to try to lock the row. */
  readonly trying: Semaphore = new Semaphore(1);
  /** Resolves when the transaction that has the row ends; undefined if no run of this process has the row. */
  runEnd: Promise<void> | undefined;
  readonly #forget: () => void;
  #runs = 0;

  constructor(forget: () => void) {
    this.#forget = forget;
  }

  add(): void {
    this.#runs += 1;
  }

  remove(): void {
    this.#runs -= 1;
    if (this.#runs === 0) this.#forget();
  }
}

/** One run of a key. */
export class KeyRun {
  readonly #key: LatestKey;
  #isTrying = false;
  /** Resolves when the last transaction of this run that got the row ends. */
  #transactionEnd: Deferred<void> | undefined;

  constructor(key: LatestKey) {
    this.#key = key;
    key.add();
  }

  /** Resolves when the run of this process that has the row ends its transaction, if there is one. */
  get otherRunEnd(): Promise<void> | undefined {
    return this.#key.runEnd;
  }

  /** Waits until this run may try to lock the row; resolves with true if it had to wait. */
  async waitForTurn(limits: RunLimits): Promise<boolean> {
    if (this.#isTrying) return true;
    const { trying } = this.#key;
    const hasQueued = !trying.tryAcquire();
    // A run that begins again, after a conflict, has waited already.
    const isUrgent = this.#transactionEnd !== undefined;
    if (hasQueued) await trying.acquire((granted) => limits.within(granted), { isUrgent });
    this.#isTrying = true;
    const { runEnd } = this.#key;
    // That run still has the row, unless PostgreSQL has ended its transaction.
    if (runEnd !== undefined) await limits.pause(ROW_PAUSE_MS, runEnd);
    return hasQueued || runEnd !== undefined;
  }

  /** The transaction has the row, so the next run may try to lock it. */
  begin(): void {
    this.#transactionEnd = new Deferred();
    this.#key.runEnd = this.#transactionEnd.promise;
    this.#stopTrying();
  }

  /** The transaction has ended, if it had begun. */
  end(): void {
    if (this.#transactionEnd === undefined) return;
    this.#transactionEnd.resolve();
    if (this.#key.runEnd === this.#transactionEnd.promise) this.#key.runEnd = undefined;
  }

  /** Ends the run: it tries to lock the row no longer, and the key is forgotten with its last run. */
  leave(): void {
    this.#stopTrying();
    this.#key.remove();
  }

  #stopTrying(): void {
    if (this.#isTrying) this.#key.trying.release();
    this.#isTrying = false;
  }
}
