import { propertyOf } from '../src/errors.ts';

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
