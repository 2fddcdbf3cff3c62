import { Claim } from '../dedupe/claim.ts';
import { acceptanceId, handlingId } from '../dedupe/claim-id.ts';
import { retentionFor } from '../dedupe/retention.ts';
import type { ClaimResult } from '../dedupe/store.ts';
import { createdAtMs, parseEvent } from '../events/event.ts';
import type { EventHandling } from './event-handling.ts';
import type { ParkedLetter } from './parked-letter.ts';

/**
 * Gives one parked event up. Its id is claimed first: while the claim holds, no handler begins, so that
 * either the drop or a replay has the event, and the other one is told so.
 */
export class Drop {
  readonly #parked: ParkedLetter;
  readonly #handling: EventHandling;
  /** The claims that the store may have granted. */
  readonly #claims: Claim[] = [];

  constructor(parked: ParkedLetter, handling: EventHandling) {
    this.#parked = parked;
    this.#handling = handling;
  }

  /** Resolves with true if the event was given up. Rejects, and leaves the letter, if the store fails. */
  async run(): Promise<boolean> {
    try {
      return await this.#run();
    } finally {
      for (const claim of this.#claims) claim.stopRenewing();
      for (const claim of this.#claims) await claim.release([]);
    }
  }

  async #run(): Promise<boolean> {
    const { letter } = this.#parked;
    const { queue } = this.#handling.settings;
    // With a queue, the handlers that run before the answer have an id of their own.
    const acceptance = queue && (await this.#claim(acceptanceId(letter.id)));
    if (acceptance === 'busy') return false;
    const handling = await this.#claim(handlingId(letter.id));
    const isDropped = handling === 'claimed' && (await this.#mayComplete());
    if (isDropped) await this.#complete();
    if (isDropped || handling === 'completed') await this.#parked.takeOut();
    return isDropped;
  }

  async #claim(claimId: string): Promise<ClaimResult['state']> {
    const { completions, runs, settings, store } = this.#handling;
    if (runs.isCompletionPending(claimId)) return 'completed';
    // Also a run without a claim, under `onStoreFailure: 'process'`.
    if (runs.find(claimId) !== undefined) return 'busy';
    const services = { settings: { ...settings, onStoreFailure: 'reject' as const }, store, completions };
    const claim = new Claim({ claimId, createdAt: this.#createdAt }, services, []);
    this.#claims.push(claim);
    const { state } = await claim.take({ mayWait: true });
    if (state === 'claimed') claim.startRenewing(() => {});
    else this.#claims.pop();
    return state;
  }

  /** Until the claim somebody else may have replayed or dropped the letter, or begun a last attempt. */
  async #mayComplete(): Promise<boolean> {
    if (!(await this.#parked.isStillParked())) return false;
    for (const claim of this.#claims) {
      while (claim.isOld) await claim.confirm();
      if (claim.state !== 'held') return false;
    }
    return true;
  }

  /** The acceptance goes first: until the handling is completed too, the letter can be replayed. */
  async #complete(): Promise<void> {
    const { settings, store } = this.#handling;
    const { id } = this.#parked.letter;
    const request = { token: 'dropped', retentionMs: retentionFor(this.#createdAt, settings) };
    if (settings.queue !== undefined) await store.complete({ id: acceptanceId(id), ...request });
    await store.complete({ id: handlingId(id), ...request });
    for (const claim of this.#claims.splice(0)) claim.stopRenewing();
  }

  /** A body that is not an event has no age: its id is remembered for `retentionMs`. */
  get #createdAt(): number {
    try {
      return createdAtMs(parseEvent(this.#parked.letter.rawBody));
    } catch {
      return Number.NEGATIVE_INFINITY;
    }
  }
}
