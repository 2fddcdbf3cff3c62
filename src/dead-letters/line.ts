import { Timer } from '../timing/time-limit.ts';

/**
 * How many operations run at once. Node.js works on files with four threads: twice as many operations keep
 * them busy, and even where each takes a quarter of a second of a disk that does one thing at a time, all of
 * them end within the limit.
 */
const MOST_RUNNING = 8;

/**
 * In how many parts the time limit of an operation is counted, each of them at least a turn of the event
 * loop: one that is busy with ten thousand deliveries must not make a sound disk look as if it hung. Writing
 * a letter takes up to 15 turns.
 */
const LIMIT_PARTS = 20;

/** The rules by which an operation waits in line. */
export interface Wait {
  /** When its caller gets an error, at the latest; by the monotonic clock. */
  readonly answerBy: number;
  /** Goes before all that are not: a delivery fails without it. */
  readonly isUrgent: boolean;
  /** The size of the body that the caller keeps meanwhile. */
  readonly bodyBytes: number;
}

interface Entry {
  readonly operation: () => Promise<void>;
  readonly fail: (error: Error) => void;
}

/**
 * Runs a few operations on the dead letters at a time; the others wait in line, first come, first served. An
 * operation that takes longer than the limit is late: it counts as failed, and the next one begins. Where
 * nothing has succeeded since it began, the dead letters are taken to be down: all that wait fail at once,
 * and operations are tried one by one until one succeeds.
 */
export class Line {
  readonly #limitMs: number;
  readonly #urgent = new Set<Entry>();
  readonly #others = new Set<Entry>();
  #running = 0;
  #successes = 0;
  #isDown = false;

  constructor(limitMs: number) {
    this.#limitMs = limitMs;
  }

  /** Settles as the operation does; rejects at `answerBy`. What has not begun by then never does. */
  run<T>(operation: () => Promise<T>, { answerBy, isUrgent }: Omit<Wait, 'bodyBytes'>): Promise<T> {
    const waiting = isUrgent ? this.#urgent : this.#others;
    const calledAt = performance.now();
    return new Promise((resolve, reject) => {
      const timer = new Timer(answerBy, () => {
        const waitedMs = answerBy - calledAt;
        fail(waiting.has(entry) ? backlogError(waitedMs) : lateError(waitedMs));
      });
      const succeed = (value: T): void => {
        timer.clear();
        this.#successes += 1;
        this.#isDown = false;
        resolve(value);
      };
      const fail = (error: unknown): void => {
        timer.clear();
        waiting.delete(entry);
        reject(error);
      };
      const entry: Entry = { operation: () => operation().then(succeed, fail), fail };
      waiting.add(entry);
      this.#beginNext();
    });
  }

  #beginNext(): void {
    while (this.#running < (this.#isDown ? 1 : MOST_RUNNING)) {
      const waiting = this.#urgent.size > 0 ? this.#urgent : this.#others;
      const [entry] = waiting;
      if (entry === undefined) return;
      waiting.delete(entry);
      this.#begin(entry);
    }
  }

  #begin({ operation, fail }: Entry): void {
    const earlierSuccesses = this.#successes;
    let parts = 0;
    const limit = setInterval(() => {
      parts += 1;
      if (parts < LIMIT_PARTS) return;
      fail(lateError(this.#limitMs));
      if (this.#successes === earlierSuccesses) this.#failAll();
      leave();
    }, this.#limitMs / LIMIT_PARTS);
    const leave = (): void => {
      clearInterval(limit);
      this.#running -= 1;
      this.#beginNext();
    };
    this.#running += 1;
    void operation().then(() => {
      if (parts < LIMIT_PARTS) leave();
      else this.#beginNext();
    });
  }

  #failAll(): void {
    this.#isDown = true;
    for (const { fail } of [...this.#urgent, ...this.#others]) fail(lateError(this.#limitMs));
  }
}

function lateError(limitMs: number): Error {
  return new Error(`no answer in ${Math.round(limitMs)} ms`);
}

function backlogError(waitedMs: number): Error {
  return new Error(`no answer in ${Math.round(waitedMs)} ms: letters come faster than they are stored`);
}
