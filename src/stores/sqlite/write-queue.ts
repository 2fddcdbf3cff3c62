import { inNextTurn } from '../../receiver/timing/next-turn.ts';
import { pause, performance } from '../../receiver/timing/process-clock.ts';
import { pauseWhileBusy } from './pause-while-busy.ts';

/** An operation of a store, of dead letters or of a journal, or the run of an inbox. */
export type WriteKind = 'operation' | 'run';

/** Work of one kind that waits for its turn to write. */
export interface QueuedWrite {
  /** Tries to run; returns false if another connection has the lock. Never throws. */
  readonly attempt: () => boolean;
  /** The longest wait. */
  readonly limitMs: number;
  /**
   * Gives up what has waited for too long or was aborted; returns whether anything still waits.
   * `lastTurnAt` is when a connection is last known to have had the lock and given it back.
   */
  readonly stillWaits: (now: number, lastTurnAt: number) => boolean;
}

/**
 * The longest wait of the operations of the store and the dead letters behind the runs of inboxes; at most a
 * quarter of the time that they may wait. Each run is a transaction of its own, while the operations that
 * come meanwhile share one.
 */
const WAIT_BEHIND_RUNS_MS = 500;

/** The longest time for which a connection leaves the lock to others after its turn. */
const LONGEST_REST_MS = 50;

/**
 * The transactions of one connection, which take turns: only one of them tries for the lock of the file.
 * Operations keep their order, and so do the runs of inboxes.
 */
export class WriteQueue {
  /** With the times since when they wait. */
  readonly #operations = new Map<QueuedWrite, number>();
  readonly #runs = new Set<QueuedWrite>();
  readonly #readVersion: () => unknown;
  #version: unknown;
  #lastTurnAt = Number.NEGATIVE_INFINITY;
  #isServing = false;
  #wasRun = true;

  /** `readVersion` returns another value once another connection has written to the file. */
  constructor(readVersion: () => unknown) {
    this.#readVersion = readVersion;
  }

  /** When a connection, this or another one, is last known to have had the lock and given it back. */
  get lastTurnAt(): number {
    return this.#lastTurnAt;
  }

  add(kind: WriteKind, write: QueuedWrite): void {
    if (kind === 'operation') this.#operations.set(write, performance.now());
    else this.#runs.add(write);
    void this.#serve();
  }

  async #serve(): Promise<void> {
    if (this.#isServing) return;
    this.#isServing = true;
    let turnEndedAt = performance.now();
    for (let tries = 1; ; tries += 1) {
      const startedAt = performance.now();
      const next = this.#next(startedAt);
      if (next === undefined) break;
      const waitedMs = startedAt - turnEndedAt;
      if (next.attempt()) {
        turnEndedAt = performance.now();
        this.#lastTurnAt = turnEndedAt;
        this.#endTurn(next, turnEndedAt);
        await rest(this.#restMs(turnEndedAt - startedAt, tries > 1 ? waitedMs : 0));
        tries = 0;
      } else {
        this.#noteOthers(startedAt);
        await pauseWhileBusy(tries, waitedMs);
      }
      // The next one is tried even if it became late while the event loop was blocked.
      this.#giveUpLate(startedAt);
    }
    this.#isServing = false;
  }

  #noteOthers(now: number): void {
    const version = this.#readVersion();
    if (version !== this.#version) this.#lastTurnAt = now;
    this.#version = version;
  }

  #next(now: number): QueuedWrite | undefined {
    const [[operation, since = now] = []] = this.#operations;
    const [run] = this.#runs;
    if (run === undefined || operation === undefined) return run ?? operation;
    const isOverdue = now - since >= Math.min(WAIT_BEHIND_RUNS_MS, operation.limitMs / 4);
    // Dead letters that are written one after the other must not keep the runs from the lock.
    return isOverdue && this.#wasRun ? operation : run;
  }

  /** Operations of a store that still wait go to the end. */
  #endTurn(write: QueuedWrite, now: number): void {
    const isOperation = this.#operations.delete(write);
    if (isOperation && write.stillWaits(now, now)) this.#operations.set(write, now);
    this.#wasRun = this.#runs.delete(write);
  }

  /**
   * Returns the time for which the lock is left to others: as long as this connection had it, if it had to
   * wait for it; a part of that, if it would take it again at once.
   */
  #restMs(heldMs: number, waitedMs: number): number {
    if (waitedMs > 0) return Math.min(heldMs, waitedMs / 2, LONGEST_REST_MS);
    return this.#operations.size + this.#runs.size === 0 ? 0 : Math.min(heldMs / 8, LONGEST_REST_MS);
  }

  #giveUpLate(now: number): void {
    for (const write of [...this.#operations.keys(), ...this.#runs]) {
      if (write.stillWaits(now, this.#lastTurnAt)) continue;
      this.#operations.delete(write);
      this.#runs.delete(write);
    }
  }
}

/** On a fast disk a turn of the event loop is enough. */
async function rest(ms: number): Promise<void> {
  if (ms < 1) await new Promise<void>(inNextTurn);
  else await pause(ms);
}
