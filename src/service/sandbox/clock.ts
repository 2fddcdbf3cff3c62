/**
 * The clock stops here, because years of the interface have four digits. The remaining day leaves room for
 * times after now, such as the expiry of a quote.
 */
export const LAST_MOMENT: number = Date.parse('9999-12-31T00:00:00.000Z');

/** A time of the clock, and the real time at which the clock showed it. */
export interface ClockReading {
  readonly time: number;
  readonly realTime: number;
}

/**
 * The time of the sandbox. It runs at a multiple of real time, or stands still, and can be stepped forward.
 *
 * Users of a sandbox that ages events do not see this time, but the real one. How far it gets ahead of the
 * real time is how much older they see the events that have not ended.
 */
export class Clock {
  /** The milliseconds that pass in each real millisecond; 0 for a clock that only steps. */
  readonly speed: number;
  readonly agesEvents: boolean;
  readonly #start: ClockReading;
  #steppedMs = 0;

  /** Starts from a reading, as if the clock had run on since then. */
  constructor(speed: number, start: ClockReading, agesEvents = false) {
    this.speed = speed;
    this.#start = start;
    this.agesEvents = agesEvents;
  }

  now(): number {
    return this.#timeAt(Date.now());
  }

  /** The time that users of the sandbox see. */
  readonly shownNow = (): number => (this.agesEvents ? Date.now() : this.now());

  /** The time that users will see when this clock has come to a moment. */
  shownTimeOf(time: number): number {
    return this.agesEvents ? Date.now() + Math.round((time - this.now()) / this.speed) : time;
  }

  /** Steps forward to a moment; never back. Returns the length of the step. */
  stepTo(time: number): number {
    const stepMs = Math.max(0, time - this.now());
    this.#steppedMs += stepMs;
    return stepMs;
  }

  /** The real time until a moment; undefined if it never comes by itself. */
  realMsUntil(time: number): number | undefined {
    if (this.speed === 0 || time > LAST_MOMENT) return undefined;
    return Math.max(0, Math.ceil((time - this.now()) / this.speed));
  }

  reading(): ClockReading {
    const realTime = Date.now();
    return { time: this.#timeAt(realTime), realTime };
  }

  /** The time by which it is ahead of the real time. */
  aheadMs(): number {
    const { time, realTime } = this.reading();
    return time - realTime;
  }

  #timeAt(realTime: number): number {
    const passedMs = Math.max(0, realTime - this.#start.realTime) * this.speed;
    const time = Math.floor(this.#start.time + this.#steppedMs + passedMs);
    return Math.min(Math.max(0, time), LAST_MOMENT);
  }
}
