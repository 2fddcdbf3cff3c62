import { randomUUID } from 'node:crypto';
import type { DeadLetter } from './dead-letters/dead-letters.ts';
import { messageOf } from './errors.ts';
import { attemptSpacingMs } from './last-attempt.ts';
import type { Settings } from './options.ts';
import type { Parcel, Parking, Postmark } from './parking.ts';
import type { Warning } from './report.ts';
import type { TimeLimitedStore } from './stores/time-limited.ts';

/** The dead letter of one event while a delivery is being handled. What fails here becomes a warning. */
export class Letter {
  readonly #parking: Parking | undefined;
  readonly #parcel: Parcel;
  readonly #warnings: Warning[];
  #storedAs: string | undefined;
  #isBegun = false;

  /** `storedAs` is given where the letter is there already: it is being replayed. */
  constructor(parking: Parking | undefined, parcel: Parcel, warnings: Warning[], storedAs?: string) {
    this.#parking = parking;
    this.#parcel = parcel;
    this.#warnings = warnings;
    this.#storedAs = parking && storedAs;
  }

  /** The id that the letter is stored under, once it is. */
  get storedAs(): string | undefined {
    return this.#storedAs;
  }

  /** Whether its writing has begun: it may be there, or come to be. */
  get isBegun(): boolean {
    return this.#isBegun;
  }

  /** Whether this delivery may have left a letter that is still there. */
  get mayExist(): boolean {
    return this.#isBegun || this.#storedAs !== undefined;
  }

  /**
   * Stores the letter, or stores it anew, and returns what it is stored under; undefined where none is stored. A letter
   * that could not be renewed still counts.
   */
  async store(
    reason: { readonly code: string; readonly message: string },
    postmark: Postmark,
  ): Promise<string | undefined> {
    if (this.#parking === undefined) return undefined;
    this.#isBegun = true;
    try {
      this.#storedAs = await this.#parking.store(this.#parcel, postmark, reason);
    } catch (error) {
      this.#warnings.push(`dead_letter_not_stored: ${messageOf(error)}`);
    }
    return this.#storedAs;
  }

  /** The letter of an earlier delivery. */
  async find(): Promise<DeadLetter | undefined> {
    const { id } = this.#parcel;
    if (id === undefined) return undefined;
    try {
      const letter = await this.#parking?.find(id);
      if (letter !== undefined) this.#storedAs = id;
      return letter;
    } catch (error) {
      this.#warnings.push(`dead_letter_not_read: ${messageOf(error)}`);
      return undefined;
    }
  }

  /** Takes the letter out: its event was handled. A letter whose writing was given up may have arrived all the same. */
  async remove(): Promise<void> {
    if (this.mayExist) await this.removeAny();
  }

  /** The same, also for a letter that an earlier delivery left. */
  async removeAny(): Promise<void> {
    const id = this.#storedAs ?? this.#parcel.id;
    if (id === undefined) return;
    try {
      await this.#parking?.remove(id);
    } catch (error) {
      this.#warnings.push(`dead_letter_not_removed: ${messageOf(error)}`);
    }
  }

  /**
   * Reads the id again after a letter was stored beside a run that may belong to another delivery, and takes the letter
   * out if that run completed. A claim is the way to read; one that succeeds is given back.
   */
  async reconcile(
    store: TimeLimitedStore,
    { leaseMs, retentionMs, retryScheduleMs }: Settings,
  ): Promise<void> {
    const { id } = this.#parcel;
    if (id === undefined) return;
    const token = randomUUID();
    try {
      const request = {
        id,
        token,
        leaseMs,
        retentionMs,
        attemptSpacingMs: attemptSpacingMs(retryScheduleMs),
      };
      const claim = await store.claim(request);
      if (claim.state === 'completed') await this.remove();
      if (claim.state === 'claimed') await store.release({ id, token, retentionMs, handled: claim.handled });
    } catch {
      // The store is away. The letter stays, and its replay will find the id completed.
      await Promise.resolve(store.release({ id, token, retentionMs, handled: [] })).catch(() => {});
    }
  }
}
