import type { Activity } from '../timing/activity.ts';
import type { CompleteRequest } from './store.ts';
import type { TimeLimitedStore } from './time-limited.ts';

/** Between two tries; doubled up to the most while the store stays away. */
const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 5_000;

interface PendingRequest extends CompleteRequest {
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
  readonly #pending = new Map<string, PendingRequest>();
  #delivering = false;

  constructor(store: TimeLimitedStore, activity: Activity) {
    this.#store = store;
    this.#activity = activity;
  }

  /** True if the event was handled here, and the store has not recorded it yet. */
  has(id: string): boolean {
    // Nearly always none is: looking for an id would cost its hash.
    return this.#pending.size > 0 && this.#pending.has(id);
  }

  /** Tries for two command time-outs; false where it has to go on in the background. */
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
    if (!this.#delivering) void this.#deliver();
    return false;
  }

  /** One request at a time: a store that comes back is not met by a crowd. */
  async #deliver(): Promise<void> {
    this.#delivering = true;
    this.#activity.begin();
    let pauseMs = FIRST_PAUSE_MS;
    for (let next = this.#oldest(); next !== undefined; next = this.#oldest()) {
      if (performance.now() >= next.giveUpAt || (await this.#try(next))) {
        this.#pending.delete(next.id);
        pauseMs = FIRST_PAUSE_MS;
        continue;
      }
      // To the end of the queue: a request that the store always refuses must not hold up the others.
      this.#pending.delete(next.id);
      this.#pending.set(next.id, next);
      await pause(pauseMs);
      pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
    }
    this.#activity.end();
    this.#delivering = false;
  }

  #oldest(): PendingRequest | undefined {
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

/** Keeps no process alive: once it is closed, what the store has still not taken is given up. */
function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms).unref());
}
