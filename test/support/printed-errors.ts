import { afterEach, beforeEach, type MockInstance, vi } from 'vitest';

export interface PrintedErrors {
  /** The texts that the test has printed to `console.error` so far, one for each call. */
  readonly printed: () => string[];
  /** Forgets what was printed so far. */
  readonly clear: () => void;
}

/** Keeps what the tests of a file print to `console.error` from the terminal. */
export function usePrintedErrors(): PrintedErrors {
  let spy: MockInstance<typeof console.error>;
  beforeEach(() => {
    spy = vi.spyOn(console, 'error').mockImplementation(() => {});
  });
  afterEach(() => spy.mockRestore());
  return {
    printed: () => spy.mock.calls.map((args) => args.map(String).join('\n')),
    clear: () => void spy.mockClear(),
  };
}
