import { inNextTurn } from './next-turn.ts';
import { clearTimeout, performance, setTimeout } from './process-clock.ts';
import { setUnrefTimeout } from './unref-timeout.ts';

/** Options of a {@link Timer}. */
export interface TimerOptions {
  readonly keepsAlive?: boolean;
}

/**
 * A timer that starts a real one only if it is not cleared within the same turn of the event loop. Nearly all
 * promises with a time limit settle within that turn, and a delivery has half a dozen of them. "a time limit"
 * in `bench/micro/delivery.js` compares it with `setTimeout`.
 */
export class Timer {
  /** The timers created in this turn of the event loop. */
  static #unstarted: Timer[] = [];

  #dueAt: number;
  #onDue: (() => void) | undefined;
  #timeout: NodeJS.Timeout | undefined;
  readonly #keepsAlive: boolean;

  /**
   * Calls `onDue` at `dueAt` (milliseconds of the monotonic clock), unless the timer is cleared before. The
   * process stays alive for it unless `keepsAlive` is false.
   */
  constructor(dueAt: number, onDue: () => void, { keepsAlive = true }: TimerOptions = {}) {
    this.#keepsAlive = keepsAlive;
    this.#dueAt = dueAt;
    this.#onDue = onDue;
    if (Timer.#unstarted.push(this) === 1) inNextTurn(Timer.#startAll);
  }

  /** Makes the timer due again; called by its `onDue`. */
  postpone(dueAt: number): void {
    this.#dueAt = dueAt;
    this.#start(performance.now());
  }

  clear(): void {
    // Its closure keeps the whole delivery in memory.
    this.#onDue = undefined;
    if (this.#timeout !== undefined) clearTimeout(this.#timeout);
  }

  static #startAll(this: void): void {
    const timers = Timer.#unstarted;
    Timer.#unstarted = [];
    const now = performance.now();
    for (const timer of timers) timer.#start(now);
  }

  #start(now: number): void {
    if (this.#onDue === undefined) return;
    const start = this.#keepsAlive ? setTimeout : setUnrefTimeout;
    this.#timeout = start(() => this.#fire(), this.#dueAt - now);
  }

  /**
   * Node.js runs due timers before it reads from its sockets. After a standstill (a long garbage collection,
   * or a processor that was taken away) one more turn reads the answers that came in time.
   */
  #fire(): void {
    inNextTurn(() => this.#onDue?.());
  }
}
