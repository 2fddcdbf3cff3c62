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
 * Those of Node.js itself. A test may replace the global ones, and has perhaps done so before it loads
 * posthorn: Jest's `enableGlobally`, or a setup file. Its frozen time must not stop a delivery.
 */
function originalClock(): ProcessClock {
  const load = requestsAreIsolated ? () => undefined : process.getBuiltinModule;
  const { performance } = load?.('node:perf_hooks') ?? globalThis;
  return {
    ...(load?.('node:timers') ?? globalThis),
    performance: { now: performance.now.bind(performance) },
  };
}

const original = originalClock();

let clock = original;

/**
 * True if fake timers had replaced those of Node.js, too, before posthorn was loaded: with these no delivery
 * would end. Fakes of `@sinonjs/fake-timers` have a property `clock`, and those of `node:test` are bound
 * methods.
 */
export function hasFakeTimers({ setTimeout, setImmediate }: ProcessClock = original): boolean {
  return [setTimeout, setImmediate].some((start) => 'clock' in start || start.name.startsWith('bound #'));
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

/** As that of Node.js; on Cloudflare Workers a timeout is a number. */
export function setTimeout(callback: () => void, ms: number): NodeJS.Timeout {
  return clock.setTimeout(callback, ms);
}

/** As that of Node.js. */
export function clearTimeout(timeout: NodeJS.Timeout | undefined): void {
  clock.clearTimeout(timeout);
}

/** As that of Node.js. */
export function setInterval(callback: () => void, ms: number): NodeJS.Timeout {
  return clock.setInterval(callback, ms);
}

/** As that of Node.js. */
export function clearInterval(interval: NodeJS.Timeout | undefined): void {
  clock.clearInterval(interval);
}

/** As that of Node.js. */
export function setImmediate(callback: () => void): void {
  clock.setImmediate(callback);
}

/** Resolves after so many milliseconds. */
export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => void setTimeout(resolve, ms));
}
