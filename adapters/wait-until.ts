import { dropPromise, messageOf, propertyOf } from '../src/foreign-values.ts';

/** Keeps a process alive until the promise settles. */
export type WaitUntil = (promise: Promise<unknown>) => void;

/**
 * Finds the `waitUntil` of what a platform hands over beside a request: `ctx` of Workers, `context` of
 * Netlify, or the `executionCtx` of a context of Hono.
 */
export function findWaitUntil(platformArguments: readonly unknown[]): WaitUntil | undefined {
  for (const argument of platformArguments) {
    // The getter `executionCtx` throws where the platform has none.
    const holder = hasWaitUntil(argument) ? argument : propertyOf(argument, 'executionCtx');
    if (hasWaitUntil(holder)) return (promise) => holder.waitUntil(promise);
  }
  return undefined;
}

function hasWaitUntil(value: unknown): value is { readonly waitUntil: WaitUntil } {
  return typeof propertyOf(value, 'waitUntil') === 'function';
}

/** Wraps a function so that nothing that it throws or returns changes an answer. */
export function checkedWaitUntil(waitUntil: WaitUntil, warn: (problem: string) => void): WaitUntil {
  return (promise) => {
    try {
      if (dropPromise(waitUntil(promise)))
        warn('must return nothing, got a promise; nobody waits for that one');
    } catch (error) {
      warn(`threw, so that the platform may end what goes on after an answer: ${messageOf(error)}`);
    }
  };
}
