import { replaceClock } from '../../src/receiver/timing/process-clock.ts';

/** The start of the monotonic clock of a world. No count is as large, so a number of this size is a time. */
export const MONOTONIC_START = 1_000_000_000;

/** The start of the wall clock of a world, in milliseconds since the epoch. */
export const WALL_START: number = Date.parse('2026-01-01T00:00:00Z');

/** A timer of a simulated process. */
export class VirtualTimer {
  readonly process: string;
  /** The action that started it. */
  readonly cause: string;
  readonly callback: () => void;
  /** By the monotonic clock. */
  startedAt: number;
  dueAt: number;
  /** Undefined for a timeout. */
  readonly intervalMs: number | undefined;
  /** True once an operation on a letter has ended in its process. */
  hasSeenLetter = false;

  constructor(process: string, callback: () => void, dueAt: number, intervalMs: number | undefined) {
    this.process = process;
    this.cause = clock.action;
    this.callback = callback;
    this.startedAt = clock.now;
    this.dueAt = dueAt;
    this.intervalMs = intervalMs;
  }

  /** Its process has stood still: an interval does not make up for what it has missed. */
  postpone(ms: number): void {
    if (this.intervalMs === undefined) return;
    this.startedAt += ms;
    this.dueAt += ms;
  }

  /** No timer keeps a simulated process alive. */
  unref(): this {
    return this;
  }
}

/** The real one, which is replaced below. */
const { setImmediate: startImmediate } = globalThis;

/**
 * The clock, the timers and the random numbers of the world that is being executed. Time stands still until
 * the world moves it.
 */
class VirtualClock {
  /** By the monotonic clock. */
  now: number = MONOTONIC_START;
  /** The time by which the wall clock was set forward. */
  wallShiftMs = 0;
  /** In the order in which they were started. */
  timers: VirtualTimer[] = [];
  /** The process that runs, and to which new timers belong. */
  process = '';
  random: () => number = () => 0;
  /** The name of the action that is being performed. */
  action = '';
  #onQuiet: () => void = () => {};
  #waits = 0;

  /** Begins a new world. */
  reset(random: () => number): void {
    this.now = MONOTONIC_START;
    this.wallShiftMs = 0;
    this.timers = [];
    this.process = '';
    this.random = random;
  }

  get wallTime(): number {
    return WALL_START + this.wallShiftMs + this.now - MONOTONIC_START;
  }

  start(callback: () => void, ms: number, intervalMs?: number): VirtualTimer {
    const timer = new VirtualTimer(this.process, callback, this.now + Math.max(0, ms), intervalMs);
    this.timers.push(timer);
    return timer;
  }

  clear(timer: unknown): void {
    const index = timer instanceof VirtualTimer ? this.timers.indexOf(timer) : -1;
    if (index >= 0) this.timers.splice(index, 1);
  }

  /** Calls a timer that is not an interval. */
  fire(timer: VirtualTimer): void {
    this.clear(timer);
    timer.callback();
  }

  /** The timers of one process are called in the order in which they are due. */
  nextTimeoutOf(process: string): VirtualTimer | undefined {
    let next: VirtualTimer | undefined;
    for (const timer of this.timers) {
      if (timer.process !== process || timer.intervalMs !== undefined) continue;
      if (next === undefined || timer.dueAt < next.dueAt) next = timer;
    }
    return next;
  }

  startImmediate(callback: () => void): void {
    startImmediate(callback);
    this.#awaitQuiet();
  }

  /**
   * Lets the process that runs go on until it waits for the world. Node.js runs all microtasks before each
   * callback of `setImmediate`: if none was started since the last one of ours, nothing is left.
   */
  settle(): Promise<void> {
    return new Promise((resolve) => {
      this.#onQuiet = resolve;
      this.#awaitQuiet();
    });
  }

  /** Waits behind the last callback: a wait for each would take a turn of the event loop for each. */
  #awaitQuiet(): void {
    this.#waits += 1;
    const wait = this.#waits;
    startImmediate(() => {
      if (wait === this.#waits) this.#onQuiet();
    });
  }
}

/** One world is executed at a time. */
export const clock: VirtualClock = new VirtualClock();

// Nobody reads the stack of an error here, and it takes long.
Error.stackTraceLimit = 0;
Date.now = () => clock.wallTime;
Math.random = () => clock.random();
Object.assign(globalThis, {
  setTimeout: (callback: () => void, ms = 0) => clock.start(callback, ms),
  setInterval: (callback: () => void, ms = 0) => clock.start(callback, ms, ms),
  setImmediate: (callback: () => void) => clock.startImmediate(callback),
  clearTimeout: (timer: unknown) => clock.clear(timer),
  clearInterval: (timer: unknown) => clock.clear(timer),
});
const { clearInterval, clearTimeout, setImmediate, setInterval, setTimeout } = globalThis;
const now = (): number => clock.now;
replaceClock({
  clearInterval,
  clearTimeout,
  performance: { now },
  setImmediate,
  setInterval,
  setTimeout,
});
