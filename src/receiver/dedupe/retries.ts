import type { Activity } from '../timing/activity.ts';
import { performance } from '../timing/process-clock.ts';
import { setUnrefTimeout } from '../timing/unref-timeout.ts';
import type { CompleteRequest, ReleaseRequest, ReleaseResult } from './store.ts';
import type { TimeLimitedStore } from './time-limited.ts';

/** The pauses between two tries of a completion. They double, up to the longest. */
const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 5_000;

/** The pause before a release is repeated. It doubles each time. */
const FIRST_RELEASE_PAUSE_MS = 100;

interface PendingCompletion extends CompleteRequest {
  /** When the tries end, by the monotonic clock. */
  readonly giveUpAt: number;
}

/**
 * Records handled events in the store. Remembers those that the store has not recorded yet, so that at least
 * this process does not handle them again.
 */
export class Completions {
  readonly #store: TimeLimitedStore;
  readonly #activity: Activity;
  readonly #pending = new Map<string, PendingCompletion>();
  #isRetrying = false;

  constructor(store: TimeLimitedStore, activity: Activity) {
    this.#store = store;
    this.#activity = activity;
  }

  /** True if the event was handled here, and the store has not recorded it yet. */
  has(id: string): boolean {
    return this.#pending.has(id);
  }

  /**
   * Records a completion in the store, and tries that for twice `commandTimeoutMs`. Resolves with false if
   * the tries go on in the background.
   */
  async record(request: CompleteRequest): Promise<boolean> {
    const endsAt = performance.now() + 2 * this.#store.commandTimeoutMs;
    try {
      await this.#store.complete(request);
      return true;
    } catch {
      return this.#retry(request, endsAt);
    }
  }

  async #retry(request: CompleteRequest, endsAt: number): Promise<boolean> {
    for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs *= 2) {
      await pause(Math.min(pauseMs, Math.max(0, endsAt - performance.now())));
      if (performance.now() >= endsAt) break;
      if (await this.#try(request)) return true;
    }
    this.#pending.set(request.id, { ...request, giveUpAt: performance.now() + request.retentionMs });
    if (!this.#isRetrying) void this.#retryAll();
    return false;
  }

  /** Sends one request at a time, so that a store that comes back is not flooded. */
  async #retryAll(): Promise<void> {
    this.#isRetrying = true;
    this.#activity.begin();
    let pauseMs = FIRST_PAUSE_MS;
    for (let next = this.#oldest(); next !== undefined; next = this.#oldest()) {
      const isOver = performance.now() >= next.giveUpAt || (await this.#try(next));
      this.#pending.delete(next.id);
      if (isOver) {
        pauseMs = FIRST_PAUSE_MS;
        continue;
      }
      // It moves to the end: a request that the store always refuses must not hold up the others.
      this.#pending.set(next.id, next);
      await pause(pauseMs);
      pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
    }
    this.#activity.end();
    this.#isRetrying = false;
  }

  #oldest(): PendingCompletion | undefined {
    return this.#pending.values().next().value;
  }

  async #try(request: CompleteRequest): Promise<boolean> {
    try {
      await this.#store.complete(request);
      return true;
    } catch {
      return false;
    }
  }
}

/**
 * Repeats a release until it succeeds, for as long as the lease lasts and once after that. Without a release,
 * the next delivery waits for the lease to end, and then treats the event as one that killed its process.
 * `request` is called for each try, because a handler may have succeeded since. Resolves with the store's
 * answer, or with undefined. Never rejects.
 */
export async function retryRelease(
  store: TimeLimitedStore,
  leaseMs: number,
  request: () => ReleaseRequest,
): Promise<ReleaseResult['state'] | undefined> {
  const endsAt = performance.now() + leaseMs;
  for (let pauseMs = FIRST_RELEASE_PAUSE_MS; performance.now() < endsAt; pauseMs *= 2) {
    await pause(pauseMs);
    try {
      return (await store.release(request())).state;
    } catch {
      // The next try may succeed, or the lease ends by itself.
    }
  }
  return undefined;
}

/** Does not keep the process alive: once the receiver is closed, the remaining records are given up. */
function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setUnrefTimeout(resolve, ms));
}
