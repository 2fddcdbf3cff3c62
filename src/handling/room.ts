import { type PosthornError, UnavailableError } from '../errors.ts';
import type { BodyMemory } from '../request/body-memory.ts';
import { Timer } from '../timing/time-limit.ts';
import type { Interruption } from './interruption.ts';

/** The places of somebody in a room, or a place in the line before it. */
interface Entry {
  /** False where there was no room in time. */
  readonly entered: Promise<boolean>;
  readonly isWaiting: boolean;
  /** Gives the places back, or leaves the line. */
  readonly leave: () => void;
}

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
   * Who waits leaves the line at `latest`, a time of the monotonic clock.
   */
  enter(handlers: number, latest: number): Entry {
    const count = Math.min(handlers, this.#size);
    let settle: (isIn: boolean) => void = () => {};
    const entered = new Promise<boolean>((resolve) => (settle = resolve));
    let step: 'waiting' | 'in' | 'out' = 'waiting';
    const leave = (): void => {
      if (step === 'in') this.#taken -= count;
      step = 'out';
      timer.clear();
      this.#waiting.delete(waiting);
      settle(false);
      // It may have been the first in line, and too large for what is free.
      this.#beginNext();
    };
    const timer = new Timer(latest, leave);
    const waiting: Waiting = {
      count,
      begin: () => {
        step = 'in';
        timer.clear();
        settle(true);
      },
    };
    this.#waiting.add(waiting);
    this.#beginNext();
    return {
      entered,
      leave,
      get isWaiting() {
        return step === 'waiting';
      },
    };
  }

  #beginNext(): void {
    for (const entry of this.#waiting) {
      if (this.#taken + entry.count > this.#size) return;
      this.#waiting.delete(entry);
      this.#taken += entry.count;
      entry.begin();
    }
  }

  /** The error of a run for which there was no place in time. */
  fullError(): UnavailableError {
    return new UnavailableError(
      'too_many_running',
      `maxRunning (${this.#size}) handlers were running, and no place for this event became free in time`,
    );
  }
}

/** The places of one run. */
export class Places {
  readonly #room: Room | undefined;
  readonly #bodyMemory: BodyMemory;
  readonly #bodyBytes: number;
  #entry: Entry | undefined;

  constructor(room: Room | undefined, bodyMemory: BodyMemory, bodyBytes: number) {
    this.#room = room;
    this.#bodyMemory = bodyMemory;
    this.#bodyBytes = bodyBytes;
  }

  /**
   * Takes places, and waits for them until `latest`; resolves with an error where there are none. The body
   * that is kept meanwhile is counted; where there is no memory for it, nobody waits.
   */
  async take(
    handlers: number,
    latest: number,
    interruption: Interruption,
  ): Promise<PosthornError | undefined> {
    if (this.#room === undefined || this.#entry !== undefined || handlers === 0) return undefined;
    const entry = this.#room.enter(handlers, latest);
    const refused = entry.isWaiting ? await this.#wait(entry, this.#room, interruption) : undefined;
    if (refused === undefined) this.#entry = entry;
    else entry.leave();
    return refused;
  }

  async #wait(entry: Entry, room: Room, interruption: Interruption): Promise<PosthornError | undefined> {
    if (!this.#bodyMemory.reserve(this.#bodyBytes)) return this.#bodyMemory.fullError();
    const hasEntered = await interruption.race(entry.entered);
    this.#bodyMemory.giveBack(this.#bodyBytes);
    return hasEntered === true ? undefined : (interruption.endedBy ?? room.fullError());
  }

  /** Gives the places back once the handlers have ended; at once without them. */
  leave(handlers: Promise<unknown> = Promise.resolve()): void {
    const entry = this.#entry;
    this.#entry = undefined;
    if (entry !== undefined) void handlers.then(entry.leave);
  }
}
