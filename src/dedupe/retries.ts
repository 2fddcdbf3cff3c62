import type { Activity } from '../timing/activity.ts';
import type { CompleteRequest, ReleaseRequest } from './store.ts';
import type { TimeLimitedStore } from './time-limited.ts';

/** Between two tries of a completion; doubled up to the most while the store stays away. */
const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 5_000;

/** Before a release is tried again; doubled each time. */
const FIRST_RELEASE_PAUSE_MS = 100;

interface PendingCompletion extends CompleteRequest {
  /** By the monotonic clock. */
  readonly giveUpAt: number;
}

/**
 * Tells the store of handled events, and keeps those that it has not taken yet: until it has, this process at
 * least does not handle them again.
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
    // Nearly always the map is empty: looking for an id would cost its hash.
    return this.#pending.size > 0 && this.#pending.has(id);
  }

  /** Tries for two command time-outs; false if it has to go on in the background. */
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

  /** One request at a time: a store that comes back is not met by a crowd. */
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
      // To the end of the queue: a request that the store always refuses must not hold up the others.
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
 * Tries a release again for as long as the lease lasts, and once after that. A lease that nobody gives back
 * keeps the event from its retry, which then takes it for one that killed its process. `request` is asked
 * each time: a handler may have finished since.
 */
export async function retryRelease(
  store: TimeLimitedStore,
  leaseMs: number,
  request: () => ReleaseRequest,
): Promise<void> {
  const endsAt = performance.now() + leaseMs;
  for (let pauseMs = FIRST_RELEASE_PAUSE_MS; performance.now() < endsAt; pauseMs *= 2) {
    await pause(pauseMs);
    try {
      await store.release(request());
      return;
    } catch {
      // The next try may succeed, or the lease ends by itself.
    }
  }
}

/** Keeps no process alive: once it is closed, what the store has still not taken is given up. */
function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms).unref());
}
