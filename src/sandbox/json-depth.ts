import { RefusedError } from './refused-error.ts';

/**
 * Deeper than any event, and a fraction of what overflows the stack of the functions that check and write
 * JSON: they call themselves for each level.
 */
const MAX_LEVELS = 200;

/** Throws {@link RefusedError} for a value that is nested too deeply, one that contains itself among them. */
export function checkDepth(value: unknown): void {
  let level = childrenOf([value]);
  for (let levels = 1; level.size > 0; levels += 1) {
    if (levels > MAX_LEVELS) {
      throw new RefusedError(
        400,
        'Invalid request',
        `objects and lists must be nested in each other ${MAX_LEVELS} levels deep at most`,
      );
    }
    level = childrenOf([...level].flatMap((parent) => Object.values(parent)));
  }
}

/** The objects and lists among some values; one that is there twice is looked at once. */
function childrenOf(values: readonly unknown[]): ReadonlySet<object> {
  return new Set(values.filter((value) => typeof value === 'object' && value !== null));
}
