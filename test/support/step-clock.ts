import { createMemoryStore, type DeadLetters, type Store } from 'posthorn';
import { createMapDeadLetters } from './map-dead-letters.ts';

export const MINUTE_MS = 60_000;

/** A clock that moves when the test says so. Handed to a receiver and its store as `now`. */
export class StepClock {
  readonly startedAt: number = Date.parse('2025-03-01T12:00:00Z');
  #time: number = this.startedAt;

  readonly now = (): number => this.#time;

  step(ms: number): void {
    this.#time += ms;
  }

  /** Moves to so many milliseconds after the start. */
  moveTo(offsetMs: number): void {
    this.#time = this.startedAt + offsetMs;
  }
}

/** Such a clock, a store that goes by it, and a place for dead letters. */
export function stepClocked(): {
  readonly clock: StepClock;
  readonly store: Store;
  readonly deadLetters: DeadLetters;
} {
  const clock = new StepClock();
  return { clock, store: createMemoryStore({ now: clock.now }), deadLetters: createMapDeadLetters() };
}
