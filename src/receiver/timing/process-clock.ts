import { requestsAreIsolated } from './isolated-requests.ts';

/** The timers and the monotonic clock of a process. */
export interface ProcessClock {
  readonly clearInterval: (interval: NodeJS.Timeout | undefined) => void;
  readonly clearTimeout: (timeout: NodeJS.Timeout | undefined) => void;
  readonly performance: { readonly now: () => number };
  readonly setImmediate: (callback: () => void) => void;
  readonly setInterval: (callback: () => void, ms: number) => NodeJS.Timeout;
  readonly setTimeout: (callback: () => void, ms: number) => NodeJS.Timeout;
}

/**
 * The timers and the clock of Node.js itself. A test may replace the global ones, perhaps before it loads
 * posthorn: Jest's `enableGlobally`, or a setup file. Its frozen time must not stop a delivery.
 */
function originalClock(): ProcessClock {
  const load = requestsAreIsolated ? () => undefined : process.getBuiltinModule;
  const { performance } = load?.('node:perf_hooks') ?? globalThis;
  const { clearInterval, clearTimeout, setImmediate, setInterval, setTimeout } =
    load?.('node:timers') ?? globalThis;
  const now = performance.now.bind(performance);
  return { clearInterval, clearTimeout, performance: { now }, setImmediate, setInterval, setTimeout };
}

const original = originalClock();

let clock = original;

/**
 * True if fake timers replaced `node:timers` before posthorn was loaded: then no delivery would end. Fakes of
 * `@sinonjs/fake-timers` have a property `clock`, and those of `node:test` are bound methods.
 */
export function hasFakeTimers(): boolean {
  // Some versions of Workers have no setImmediate, and none has these fakes.
  if (requestsAreIsolated) return false;
  return [original.setTimeout, original.setImmediate].some(
    (start) => 'clock' in start || start.name.startsWith('bound #'),
  );
}

/**
 * Replaces the clock of all receivers, stores and queues of the process, and returns a function that puts the
 * former one back. For posthorn's own tests.
 */
export function replaceClock(replacement: Partial<ProcessClock>): () => void {
  const former = clock;
  clock = { ...former, ...replacement };
  return () => {
    clock = former;
  };
}

/** The monotonic clock, in milliseconds. */
export const performance: ProcessClock['performance'] = { now: () => clock.performance.now() };

/** As in Node.js. On Workers a timeout is a number, and nothing here may be called as a method. */
export function setTimeout(callback: () => void, ms: number): NodeJS.Timeout {
  const { setTimeout: start } = clock;
  return start(callback, ms);
}

export function clearTimeout(timeout: NodeJS.Timeout | undefined): void {
  const { clearTimeout: clear } = clock;
  clear(timeout);
}

export function setInterval(callback: () => void, ms: number): NodeJS.Timeout {
  const { setInterval: start } = clock;
  return start(callback, ms);
}

export function clearInterval(interval: NodeJS.Timeout | undefined): void {
  const { clearInterval: clear } = clock;
  clear(interval);
}

export function setImmediate(callback: () => void): void {
  const { setImmediate: start } = clock;
  start(callback);
}

/** Resolves after so many milliseconds. */
export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, ms));
}
