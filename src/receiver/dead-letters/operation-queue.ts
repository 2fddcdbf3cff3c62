import { clearInterval, performance, setInterval } from '../timing/process-clock.ts';
import { Semaphore } from '../timing/semaphore.ts';
import { Timer } from '../timing/timer.ts';

/**
 * The number of operations that run at once. Node.js works on files with four threads, and twice as many
 * operations keep them busy. All of them end within the limit, even if a disk does them one by one, each in a
 * quarter of a second.
 */
const MOST_RUNNING = 8;

/**
 * The time limit of an operation is counted in this many parts, each at least a turn of the event loop: an
 * event loop that is busy with ten thousand deliveries must not make a healthy disk look hung. Writing a dead
 * letter takes up to 15 turns.
 */
const LIMIT_PARTS = 20;

/** The rules by which an operation waits in the queue. */
export interface OperationWait {
  /** The latest time of an error for its caller, by the monotonic clock. */
  readonly answerBy: number;
  /** An urgent operation goes before all others: a delivery fails without it. */
  readonly isUrgent: boolean;
  /** The size of the body that the caller keeps meanwhile. */
  readonly bodyBytes: number;
}

/**
 * Runs a few operations on the dead letters at a time; the others wait, first come, first served. It is a
 * circuit breaker too. An operation that takes longer than the limit counts as failed, and the next one
 * begins. If nothing has succeeded since it began, the dead letters count as down: all operations that wait
 * fail at once, and operations are tried one by one until one succeeds.
 */
export class OperationQueue {
  readonly #limitMs: number;
  readonly #permits = new Semaphore(MOST_RUNNING);
  /** The functions that fail the waiting operations. */
  readonly #waiting = new Set<(error: Error) => void>();
  #successes = 0;

  constructor(limitMs: number) {
    this.#limitMs = limitMs;
  }

  /**
   * Settles as the operation does; rejects at `answerBy`. An operation that has not begun by then never
   * begins.
   */
  async run<T>(
    operation: () => Promise<T>,
    { answerBy, isUrgent }: Omit<OperationWait, 'bodyBytes'>,
  ): Promise<T> {
    const waitMs = answerBy - performance.now();
    if (!this.#permits.tryAcquire())
      await this.#permits.acquire((granted) => this.#waitFor(granted, answerBy, waitMs), { isUrgent });
    return this.#begin(operation, answerBy, waitMs);
  }

  #waitFor(granted: Promise<void>, answerBy: number, waitMs: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const fail = (error: Error): void => {
        timer.clear();
        this.#waiting.delete(fail);
        reject(error);
      };
      const timer = new Timer(answerBy, () => fail(backlogError(waitMs)));
      this.#waiting.add(fail);
      void granted.then(() => {
        timer.clear();
        this.#waiting.delete(fail);
        resolve();
      });
    });
  }

  #begin<T>(operation: () => Promise<T>, answerBy: number, waitMs: number): Promise<T> {
    const earlierSuccesses = this.#successes;
    return new Promise((resolve, reject) => {
      const timer = new Timer(answerBy, () => reject(noAnswer(waitMs)));
      let parts = 0;
      const limit = setInterval(() => {
        parts += 1;
        if (parts < LIMIT_PARTS) return;
        reject(noAnswer(this.#limitMs));
        if (this.#successes === earlierSuccesses) this.#openCircuit();
        leave();
      }, this.#limitMs / LIMIT_PARTS);
      const leave = (): void => {
        timer.clear();
        clearInterval(limit);
        this.#permits.release();
      };
      const end = (settle: () => void): void => {
        settle();
        if (parts < LIMIT_PARTS) leave();
      };
      operation().then(
        (value) => {
          this.#closeCircuit();
          end(() => resolve(value));
        },
        (error: unknown) => end(() => reject(error)),
      );
    });
  }

  /** Fails the waiting operations, and allows one at a time: the dead letters are down. */
  #openCircuit(): void {
    this.#permits.size = 1;
    for (const fail of this.#waiting) fail(noAnswer(this.#limitMs));
  }

  /** Allows several operations at a time again. */
  #closeCircuit(): void {
    this.#successes += 1;
    this.#permits.size = MOST_RUNNING;
  }
}

function noAnswer(limitMs: number): Error {
  return new Error(`no answer in ${Math.round(limitMs)} ms`);
}

function backlogError(waitedMs: number): Error {
  return new Error(`no answer in ${Math.round(waitedMs)} ms: letters come faster than they are stored`);
}
