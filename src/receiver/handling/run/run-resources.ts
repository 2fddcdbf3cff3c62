import type { Lease, OnTaken } from '../../dedupe/lease.ts';
import { type RunProgress, routesToRun } from '../handlers/handlers.ts';
import type { Interruption } from '../handlers/interruption.ts';
import { hasKey } from '../handlers/route.ts';
import type { ConcurrencyLimit } from '../keys/concurrency-limit.ts';
import type { RunInput } from './run-input.ts';
import type { RunServices } from './run-services.ts';

/**
 * Holds all that a run must give back: its renewed lease, its permits, its share of the memory for bodies,
 * and the timer of `maxRunMs`.
 */
export class RunResources {
  readonly #input: RunInput;
  readonly #services: RunServices;
  readonly #interruption: Interruption;
  #lease: Lease | undefined;
  #permits = 0;
  #isBodyCounted = false;

  constructor(input: RunInput, services: RunServices, interruption: Interruption) {
    this.#input = input;
    this.#services = services;
    this.#interruption = interruption;
  }

  /** Renews a lease until `giveBackAll`, in place of the previous one. */
  replaceLease(lease: Lease, onTaken: OnTaken): void {
    this.#lease?.stop();
    this.#lease = lease;
    lease.startRenewing(onTaken);
  }

  /** See {@link Lease}. */
  get missedRenewal(): boolean {
    return this.#lease?.missedRenewal === true;
  }

  /** Counts the body, before the run waits. Returns false if it does not fit: the run must not wait then. */
  countBody(): boolean {
    this.#isBodyCounted ||= this.#services.bodyMemory.reserve(this.#input.rawBody.byteLength);
    return this.#isBodyCounted;
  }

  uncountBody(): void {
    if (this.#isBodyCounted) this.#services.bodyMemory.giveBack(this.#input.rawBody.byteLength);
    this.#isBodyCounted = false;
  }

  /**
   * Waits for a permit for each handler that has not succeeded yet. A handler with a key acquires its own
   * permit once it has the key.
   */
  async acquirePermits(concurrency: ConcurrencyLimit, progress: RunProgress): Promise<void> {
    const { deadline, origin, routes } = this.#input;
    const { length } = routesToRun(routes, progress).filter((route) => !hasKey(route));
    if (!origin.isLimited || length === 0) return;
    const wait = { until: deadline.handlersBeginBy, interruption: this.#interruption };
    try {
      this.#permits = await concurrency.acquire(length, { ...wait, countBody: () => this.countBody() });
    } finally {
      this.uncountBody();
    }
  }

  /** Leaves the permits to the handlers until these end, even if the run is aborted before. */
  async leavePermitsTo(handled: Promise<unknown>): Promise<void> {
    const count = this.#permits;
    this.#permits = 0;
    await handled;
    this.#services.permits?.release(count);
  }

  /** Gives everything back. The run can acquire it again afterwards. */
  giveBackAll(): void {
    this.#lease?.stop();
    this.#interruption.stopLimit();
    if (this.#permits > 0) this.#services.permits?.release(this.#permits);
    this.#permits = 0;
    this.uncountBody();
  }
}
