import { catalog, type Entity, eventTypes } from './catalog.ts';
import { matchesPattern } from './pattern.ts';

/** The wanted types of an entity. Name each: that an empty list means all of them is not certain. */
export type EventFilter = {
  [E in Entity]: { readonly entity: E; readonly types: readonly (typeof catalog)[E][number][] };
}[Entity];

/**
 * The service's form of patterns (interface, "Webhook"): an empty list means every event. That no types mean
 * all of an entity rests on a comment in the interface, so that the types are named.
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
