import { RefusedError } from './refused-error.ts';

/**
 * Deeper than any event, but a fraction of the depth that overflows the stack of the recursive functions that
 * check and write JSON.
 */
const MAX_LEVELS = 200;

/** Throws {@link RefusedError} for a value that is nested too deeply, or contains itself. */
export function checkDepth(value: unknown): void {
  let level = childrenOf([value]);
  for (let levels = 1; level.size > 0; levels += 1) {
    if (levels > MAX_LEVELS) {
      throw new RefusedError(
        400,
        'Invalid request',
        `objects and lists must be nested ${MAX_LEVELS} levels deep at most`,
      );
    }
    level = childrenOf([...level].flatMap((parent) => Object.values(parent)));
  }
}

/** The objects and lists among some values; a repeated one is checked once. */
function childrenOf(values: readonly unknown[]): ReadonlySet<object> {
  return new Set(values.filter((value) => typeof value === 'object' && value !== null));
}
