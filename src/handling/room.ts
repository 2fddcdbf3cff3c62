import type { BodyMemory } from '../request/body-memory.ts';
import { Timer } from '../timing/time-limit.ts';

interface Waiting {
  readonly count: number;
  readonly begin: () => void;
}

/** The room for handlers that run at once in this process. Who comes first enters first. */
export class Room {
  readonly #size: number;
  #taken = 0;
  readonly #waiting = new Set<Waiting>();

  constructor(size: number) {
    this.#size = size;
  }

  /**
   * Takes places for handlers that run side by side; all of them where there are more handlers than places.
   * Resolves with what gives them back, or with undefined where there was no room by `latest`, a time of the
   * monotonic clock.
   */
  enter(handlers: number, latest: number): Promise<(() => void) | undefined> {
    const count = Math.min(handlers, this.#size);
    return new Promise((resolve) => {
      const timer = new Timer(latest, () => {
        this.#waiting.delete(entry);
        resolve(undefined);
        // It may have been the first, and too large for what is free.
        this.#beginNext();
      });
      const entry: Waiting = {
        count,
        begin: () => {
          timer.clear();
          resolve(() => this.#leave(count));
        },
      };
      this.#waiting.add(entry);
      this.#beginNext();
    });
  }

  #leave(count: number): void {
    this.#taken -= count;
    this.#beginNext();
  }

  #beginNext(): void {
    for (const entry of this.#waiting) {
      if (this.#taken + entry.count > this.#size) return;
      this.#waiting.delete(entry);
      this.#taken += entry.count;
      entry.begin();
    }
  }
}

/** The places of one run. */
export class Places {
  readonly #room: Room | undefined;
  #leave: (() => void) | undefined;

  constructor(room: Room | undefined) {
    this.#room = room;
  }

  /**
   * Waits for places until `latest`; false where there were none, or the wait was interrupted. The body that
   * is kept meanwhile is counted; where there is no room for it, nobody waits.
   */
  async take(handlers: number, latest: number, wait: PlacesWait): Promise<boolean> {
    if (this.#room === undefined || this.#leave !== undefined || handlers === 0) return true;
    const share = wait.bodyMemory.hold(wait.bodyBytes);
    if (share === undefined) return false;
    const entered = this.#room.enter(handlers, latest);
    const leave = await wait.orAbort(entered);
    wait.bodyMemory.release(share);
    if (typeof leave === 'function') this.#leave = leave;
    else void entered.then((unused) => unused?.());
    return this.#leave !== undefined;
  }

  /** Gives the places back once the handlers have ended; at once without them. */
  leave(handlers: Promise<unknown> = Promise.resolve()): void {
    const leave = this.#leave;
    this.#leave = undefined;
    if (leave !== undefined) void handlers.then(leave);
  }
}

/** What a wait for places needs. */
export interface PlacesWait {
  readonly bodyMemory: BodyMemory;
  readonly bodyBytes: number;
  /** Resolves with the promise, or at once when the run is aborted. */
  readonly orAbort: <T>(promise: Promise<T>) => Promise<T | Error>;
}
