import { ConfigurationError } from '../errors.ts';
import { show } from '../values/foreign-values.ts';
import { eventTypes, type Pattern } from './catalog.ts';
import { nearestPattern } from './nearest-pattern.ts';

/** Returns true if a well-formed pattern matches a type. */
export function matchesPattern(pattern: string, type: string): boolean {
  return (
    pattern === '*' || pattern === type || (pattern.endsWith('.*') && type.startsWith(pattern.slice(0, -1)))
  );
}

/** Returns true for a pattern: it matches a type of the catalog. */
export function isPattern(value: unknown): value is Pattern {
  return typeof value === 'string' && [...eventTypes].some((type) => matchesPattern(value, type));
}

/**
 * Creates the error for a value that is not a pattern. `ofNewTypes` says how types outside the catalog are
 * treated.
 */
export function wrongPattern(value: unknown, ofNewTypes: string): ConfigurationError {
  const nearest = typeof value === 'string' ? nearestPattern(value) : undefined;
  const question = nearest === undefined ? '' : ` Did you mean "${nearest}"?`;
  return new ConfigurationError(
    `${show(value)} matches no event type.${question} A pattern is "*", a type such as "transfer.succeeded", or a ` +
      `prefix such as "transfer.*"; the types are ${[...eventTypes].join(', ')}. ${ofNewTypes}`,
  );
}
