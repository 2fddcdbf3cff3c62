import { Semaphore } from '../../../receiver/timing/semaphore.ts';
import { Deferred } from '../../kit/deferred.ts';
import { ROW_PAUSE_MS, type RunLimits } from './time-limits.ts';

/**
 * The keys of `latest` that have runs in this process. Of the runs of a key that wait, one looks for its row
 * in PostgreSQL, which decides; the others wait here, in the order of their arrival. If each of them looked,
 * they would take the connections of runs that could go on.
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
  /** The permit to look for the row. */
  readonly looking: Semaphore = new Semaphore(1);
  /** Resolves when the transaction of this process ends that has the row, if there is one. */
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
  #isLooking = false;
  /** Resolved when the transaction ends that has the row. */
  #transactionEnd: Deferred<void> | undefined;

  constructor(key: LatestKey) {
    this.#key = key;
    key.add();
  }

  /** Resolves when a run of this process ends that has the row, if there is one. */
  get otherRunEnd(): Promise<void> | undefined {
    return this.#key.runEnd;
  }

  /** Waits until this run may look for the row; resolves with true if it had to wait. */
  async look(limits: RunLimits): Promise<boolean> {
    if (this.#isLooking) return true;
    const { looking } = this.#key;
    const hasQueued = !looking.tryAcquire();
    // A run that begins again, after a conflict, has waited already.
    const isUrgent = this.#transactionEnd !== undefined;
    if (hasQueued) await looking.acquire((granted) => limits.within(granted), { isUrgent });
    this.#isLooking = true;
    const { runEnd } = this.#key;
    // Its row is not free yet, unless PostgreSQL has ended its transaction.
    if (runEnd !== undefined) await limits.pause(ROW_PAUSE_MS, runEnd);
    return hasQueued || runEnd !== undefined;
  }

  /** The transaction has the row, so the next run may look for it. */
  begin(): void {
    this.#transactionEnd = new Deferred();
    this.#key.runEnd = this.#transactionEnd.promise;
    this.#stopLooking();
  }

  /** The transaction has ended, if it had begun. */
  end(): void {
    if (this.#transactionEnd === undefined) return;
    this.#transactionEnd.resolve();
    if (this.#key.runEnd === this.#transactionEnd.promise) this.#key.runEnd = undefined;
  }

  /** Ends the run: it looks for the row no longer, and the key is forgotten with its last run. */
  leave(): void {
    this.#stopLooking();
    this.#key.remove();
  }

  #stopLooking(): void {
    if (this.#isLooking) this.#key.looking.release();
    this.#isLooking = false;
  }
}
