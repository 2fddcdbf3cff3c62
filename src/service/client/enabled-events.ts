import { ConfigurationError } from '../../receiver/errors.ts';
import type { TypedEvent } from '../../receiver/events/event-types.ts';
import type { TypeList } from '../../receiver/events/type-list.ts';
import { propertyOf, show } from '../../receiver/values/foreign-values.ts';
import type { EnabledEvents, StoredEventFilter } from '../shapes/webhooks.ts';

/**
 * Turns patterns into filters. Filters stay as they are, because the service checks them. Throws {@link
 * ConfigurationError} that names the method for a wrong pattern, and for a list of both.
 */
export function readEnabledEvents(
  events: EnabledEvents<TypedEvent> | readonly StoredEventFilter[] | undefined,
  method: string,
  types: TypeList,
): readonly StoredEventFilter[] | undefined {
  if (events === undefined) return undefined;
  if (!Array.isArray(events)) throw wrongList(method, `got ${show(events)}`);
  const list: readonly (string | StoredEventFilter)[] = events;
  const patterns = list.filter((each) => typeof each === 'string');
  const filters = list.filter((each) => typeof each !== 'string');
  if (patterns.length === 0) return filters.map(asSent);
  if (filters.length > 0) throw wrongList(method, 'not of both');
  const wrong = patterns.find((pattern) => !types.isPattern(pattern));
  if (wrong === undefined) return types.toFilters(patterns);
  throw types.wrongPattern(wrong, 'Types that are not in this list yet come with "*" alone');
}

/** Without `any`. A value that is not a filter stays as it is, because the service checks them. */
function asSent(filter: StoredEventFilter): StoredEventFilter {
  return propertyOf(filter, 'any') === undefined ? filter : { entity: filter.entity, types: filter.types };
}

function wrongList(method: string, problem: string): ConfigurationError {
  return new ConfigurationError(
    `enabled_events of ${method} must be a list of patterns, such as "transfer.*", or a list of filters, such as ` +
      `{ entity: "transfer", types: ["succeeded"] }; ${problem}`,
  );
}
