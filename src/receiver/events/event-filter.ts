import { catalog, type Entity, eventTypes } from './catalog.ts';
import { matchesPattern } from './pattern.ts';

/** The wanted types of an entity. Name each type: it is not certain that an empty list means all of them. */
export type EventFilter = {
  [E in Entity]: { readonly entity: E; readonly types: readonly (typeof catalog)[E][number][] };
}[Entity];

/**
 * Turns patterns into the service's filters (interface, "Webhook"): an empty list means every event. Each
 * type is named, because only a comment in the interface says that an empty `types` means all of an entity.
 */
export function toEventFilters(patterns: readonly string[]): EventFilter[] {
  if (patterns.includes('*')) return [];
  const isWanted = (type: string): boolean => patterns.some((pattern) => matchesPattern(pattern, type));
  const filters = Object.entries(catalog).map(
    ([entity, types]): AnyFilter => ({
      entity,
      types: types.filter((type) => isWanted(`${entity}.${type}`)),
    }),
  );
  return filters.filter(({ types }) => types.length > 0).filter(isEventFilter);
}

interface AnyFilter {
  readonly entity: string;
  readonly types: readonly string[];
}

function isEventFilter(filter: AnyFilter): filter is EventFilter {
  return filter.types.every((type) => eventTypes.has(`${filter.entity}.${type}`));
}
