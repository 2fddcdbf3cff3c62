import { randomUUID } from 'node:crypto';
import type { Completions } from './completions.ts';
import { messageOf } from './errors.ts';
import { createdAtMs, type WebhookEvent } from './event.ts';
import { attemptSpacingMs } from './last-attempt.ts';
import type { Settings } from './options.ts';
import type { Warning } from './report.ts';
import type { ClaimedResult, ClaimResult, CompleteRequest, ReleaseResult, Store } from './stores/store.ts';

/** Between two questions to the store about a twin; half of it is left to chance, so that processes spread out. */
const POLL_MS = 400;

/** Before a release is tried again; doubled each time. */
const FIRST_PAUSE_MS = 100;

/** Beyond an event's age limit, for clocks that differ. */
const RETENTION_MARGIN_MS = 10 * 60_000;

/** The claim of an event whose store does not answer, under `onStoreFailure: 'process'`. */
export const UNCLAIMED: ClaimedResult = {
  state: 'claimed',
  attempt: 1,
  abandoned: 0,
  firstClaimedMsAgo: 0,
  handled: [],
};

/** How to wait while another process handles the event. */
export interface ClaimWait {
  /** Called once, before the first wait. */
  readonly onBusy: () => void;
  /** Asked before each further question: whether a delivery still waits for the answer. */
  readonly isAwaited: () => boolean;
  /** Ends the waiting at once. */
  readonly interrupted: Promise<unknown>;
}

/** One token's hold on an event's id in the store. */
export class Claim {
  readonly #request: CompleteRequest;
  readonly #settings: Settings;
  readonly #store: Store;
  readonly #completions: Completions;
  readonly #warn: (warning: Warning) => void;

  constructor(
    event: WebhookEvent,
    services: { readonly settings: Settings; readonly store: Store; readonly completions: Completions },
    warn: (warning: Warning) => void,
  ) {
    this.#settings = services.settings;
    this.#store = services.store;
    this.#completions = services.completions;
    this.#warn = warn;
    this.#request = {
      id: event.id,
      token: randomUUID(),
      retentionMs: retentionFor(event, services.settings),
    };
  }

  /**
   * Asks for the id. While another process has it, asks again until the event is completed, the lease has ended, or nobody
   * waits any more (`busy`). Rejects only if the first question fails: later on, the twin is known to be running. A
   * question that failed may have taken the id all the same, so it is given back when the asking ends.
   */
  async take(wait: ClaimWait): Promise<ClaimResult> {
    const { leaseMs, retryScheduleMs } = this.#settings;
    const request = { ...this.#request, leaseMs, attemptSpacingMs: attemptSpacingMs(retryScheduleMs) };
    let result = await this.#store.claim(request);
    let isUnsure = false;
    if (result.state === 'busy') wait.onBusy();
    while (result.state === 'busy') {
      await pause(Math.min(POLL_MS, result.msLeft + 1) * (0.5 + Math.random() / 2), wait.interrupted);
      if (!wait.isAwaited()) break;
      const busy = result;
      result = await this.#store.claim(request).catch(() => {
        isUnsure = true;
        return busy;
      });
    }
    if (result.state === 'busy' && isUnsure) void this.release([]);
    return result;
  }

  /**
   * Renews the lease every third of it, until the returned function is called. `onEnd` is told, once, that another token
   * has the id (`lost`) or that the event was completed. A store that fails or is late ends nothing: the lease may well
   * hold, and the next turn tells.
   */
  keep(onEnd: (state: 'lost' | 'completed') => void): () => void {
    const { leaseMs } = this.#settings;
    let isKept = true;
    let timer = setTimeout(renew, leaseMs / 3);
    const renewed = (state: 'held' | 'lost' | 'completed'): void => {
      if (!isKept) return;
      if (state === 'held') timer = setTimeout(renew, leaseMs / 3);
      else onEnd(state);
    };
    const store = this.#store;
    const request = { ...this.#request, leaseMs };
    function renew(): void {
      store.renew(request).then(
        ({ state }) => renewed(state),
        () => renewed('held'),
      );
    }
    return () => {
      isKept = false;
      clearTimeout(timer);
    };
  }

  /** Records that the event was handled. Where the store does not take it in time, that goes on in the background. */
  async complete(): Promise<void> {
    if (await this.#completions.record(this.#request)) return;
    this.#warn('completion_pending: the store did not take the completion; it is tried again');
  }

  /** Gives the id back; undefined where the store does not answer: it is then tried again until the lease ends. */
  async release(handled: Iterable<string>): Promise<ReleaseResult['state'] | undefined> {
    try {
      return (await this.#store.release({ ...this.#request, handled: [...handled] })).state;
    } catch (error) {
      this.#warn(`release_failed: ${messageOf(error)}`);
      void this.#releaseLater(handled);
      return undefined;
    }
  }

  /** A lease that nobody gives back keeps the event from its retry, which then takes it for one that killed its process. */
  async #releaseLater(handled: Iterable<string>): Promise<void> {
    const endsAt = performance.now() + this.#settings.leaseMs;
    let isReleased = false;
    for (let pauseMs = FIRST_PAUSE_MS; !isReleased && performance.now() < endsAt; pauseMs *= 2) {
      await new Promise((resolve) => setTimeout(resolve, pauseMs).unref());
      // Read anew each time: a handler may have finished since.
      const request = { ...this.#request, handled: [...handled] };
      isReleased = await this.#store.release(request).then(
        () => true,
        () => false,
      );
    }
  }
}

/** A completed id is remembered at least until its event is too old to be accepted again. */
export function retentionFor(event: WebhookEvent, { retentionMs, maxEventAgeMs, now }: Settings): number {
  if (maxEventAgeMs === Number.POSITIVE_INFINITY) return retentionMs;
  return Math.max(retentionMs, createdAtMs(event) + maxEventAgeMs + RETENTION_MARGIN_MS - now());
}

async function pause(ms: number, interrupted: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const elapsed = new Promise((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([elapsed, interrupted]);
  clearTimeout(timer);
}
