import { syncBuiltinESMExports } from 'node:module';
import { join, sep } from 'node:path';
import timers from 'node:timers/promises';
import { packageRoot } from '../child-program.ts';
import { tests } from '../running-test.ts';
import { type Costs, costsOfStart, NO_COSTS, sumOf } from './costs.ts';

declare module 'vitest' {
  interface TaskMeta {
    costs?: Costs;
  }
}

type Apply<Called extends object> = Exclude<ProxyHandler<Called>['apply'], undefined>;

const COUNTED = Symbol.for('posthorn.tests.costs');
const LONG_MS = 100;
const testFolder = join(packageRoot, 'test') + sep;

/** Counts for the next file of this worker, in the object that it returns. */
export function beginCounting(): Costs {
  if (!Reflect.has(globalThis, COUNTED)) countPauses();
  const counted = { ...NO_COSTS };
  Reflect.set(globalThis, COUNTED, counted);
  return counted;
}

function count(costs: Costs): void {
  const counted: Costs | undefined = Reflect.get(globalThis, COUNTED);
  if (counted !== undefined) Object.assign(counted, sumOf([counted, costs]));
}

/** Called with the arguments of each function that starts a program: test/support/leave-nothing.ts. */
export function countStart(args: readonly unknown[]): void {
  const words = args.flat().filter((word) => typeof word === 'string');
  count(costsOfStart(words.join(' ')));
}

/**
 * Counts the pauses that a test or its support asks for: those of the sources and of packages are not its
 * choice, nor are those that ../leave-none-pending.ts makes after its end. A limit that is cleared in time is
 * not a pause.
 */
function countPauses(): void {
  const isPause = (ms: unknown, apply: (...args: never[]) => unknown): ms is number =>
    typeof ms === 'number' &&
    ms >= LONG_MS &&
    !tests.getStore()?.isOver &&
    callerOf(apply).includes(testFolder);

  const byCallback: Apply<typeof setTimeout> = (start, self, [callback, ms, ...others]) => {
    if (!isPause(ms, byCallback)) return Reflect.apply(start, self, [callback, ms, ...others]);
    const ended = (...values: unknown[]): void => {
      count({ ...NO_COSTS, waitedMs: ms });
      callback(...values);
    };
    return Reflect.apply(start, self, [ended, ms, ...others]);
  };
  globalThis.setTimeout = new Proxy(setTimeout, { apply: byCallback });

  const byPromise: Apply<typeof timers.setTimeout> = (start, self, args) => {
    if (isPause(args[0], byPromise)) count({ ...NO_COSTS, waitedMs: args[0] });
    return Reflect.apply(start, self, args);
  };
  timers.setTimeout = new Proxy(timers.setTimeout, { apply: byPromise });
  syncBuiltinESMExports();
}

/** The line of the stack that called a function. */
function callerOf(called: (...args: never[]) => unknown): string {
  const holder = { stack: '' };
  Error.captureStackTrace(holder, called);
  return holder.stack.split('\n')[1] ?? '';
}
