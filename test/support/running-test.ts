import { AsyncLocalStorage } from 'node:async_hooks';

/** An operation with a time limit that has not ended yet. */
export interface PendingOperation {
  readonly limitMs: number;
  /** Has the stack of its beginning. */
  readonly begun: Error;
}

/** A test, as all that it begins knows it, also after its end. */
export class RunningTest {
  readonly name: string;
  readonly pending: Set<PendingOperation> = new Set();
  readonly timeouts: Set<NodeJS.Timeout> = new Set();
  /** Why it may leave operations pending; undefined if it may not. */
  leavesPendingWhy: string | undefined;
  #atEnd: (() => void)[] | undefined = [];

  constructor(name: string) {
    this.name = name;
  }

  /** Calls the function when the test and its hooks are over, at once if they are already. */
  whenOver(end: () => void): void {
    if (this.#atEnd === undefined) end();
    else this.#atEnd.push(end);
  }

  /** Whether the test and its hooks are over. */
  get isOver(): boolean {
    return this.#atEnd === undefined;
  }

  end(): void {
    const ends = this.#atEnd ?? [];
    this.#atEnd = undefined;
    for (const end of ends) end();
  }
}

const TESTS = Symbol.for('posthorn.tests.running-test');

// A worker that has had other files has one already, which the sources that it has loaded know.
if (!Reflect.has(globalThis, TESTS)) Reflect.set(globalThis, TESTS, new AsyncLocalStorage());

/** The test that began whatever asks. */
export const tests: AsyncLocalStorage<RunningTest> = Reflect.get(globalThis, TESTS);
