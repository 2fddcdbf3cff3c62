import { WAIT_LIMIT_MS } from './limits.ts';

/**
 * Resolves once the condition holds; rejects, naming it, after a time that not even a busy machine needs. A
 * function gives the name then, with what has been seen last.
 */
export async function until(
  name: string | (() => string),
  holds: () => boolean | Promise<boolean>,
  limitMs: number = WAIT_LIMIT_MS,
): Promise<void> {
  const endsAt = performance.now() + limitMs;
  while (!(await holds())) {
    if (performance.now() >= endsAt) {
      throw new Error(`waited ${limitMs} ms in vain: ${typeof name === 'string' ? name : name()}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
