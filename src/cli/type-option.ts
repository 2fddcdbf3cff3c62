import { InvalidArgumentError, Option } from 'commander';
import { serviceTypes } from '../providers/banking-service/catalog.ts';
import { isPatternForm } from '../receiver/events/pattern.ts';
import { TypeList } from '../receiver/events/type-list.ts';
import type { CheckedProvider } from '../receiver/provider/checked-provider.ts';
import { isInstance } from '../receiver/values/foreign-values.ts';
import { usageError } from './failure.ts';

/** The option that selects by the type of events. */
export function typeOption(): Option {
  return new Option('--type <pattern>', 'of this type, or of types such as transfer.*').argParser(
    parsePattern,
  );
}

/** Says which form a type of the service has. */
const TYPE_FORM = 'It must be a type such as transfer.succeeded, a prefix such as transfer.*, or *.';

function parsePattern(text: string): string {
  // A type of another sender may have one segment.
  if (hasServiceForm(text) || isPatternForm(text)) return text;
  throw new InvalidArgumentError(TYPE_FORM);
}

/** Returns true for a pattern whose form is that of the service. */
function hasServiceForm(pattern: string): boolean {
  return pattern === '*' || /^[^.*]+(\.[^.*]+)*\.([^.*]+|\*)$/.test(pattern);
}

type ProviderTypes = Pick<CheckedProvider, 'types'>;

/** Returns true for a pattern that the receiver would take. */
function isPatternOf(provider: ProviderTypes | undefined, pattern: string): boolean {
  try {
    provider?.types.checkPattern(pattern);
    return provider !== undefined;
  } catch {
    return false;
  }
}

/**
 * Throws a usage error for a pattern that matched nothing and that neither the service nor the provider
 * lists: a misspelt type must not look like one without events. `unmatched` says what has no such type, for
 * example `no dead letter`.
 */
export function checkUnmatchedType(
  pattern: string,
  unmatched: string,
  provider: ProviderTypes | undefined,
): void {
  if (serviceTypes.isPattern(pattern) || isPatternOf(provider, pattern)) return;
  if (!hasServiceForm(pattern))
    throw usageError(`option '--type <pattern>' argument '${pattern}' is invalid. ${TYPE_FORM}`);
  const list = isInstance(provider?.types, TypeList) ? provider.types : serviceTypes;
  const nearest = list.nearestPattern(pattern);
  const meant = nearest === undefined ? '' : `; the nearest is ${nearest}`;
  const problem = `${unmatched} has the type ${JSON.stringify(pattern)}, and the service does not list it`;
  throw usageError(`--type: ${problem}${meant}`);
}
