import { catalog } from '../../providers/banking-service/catalog.ts';
import { entityOf } from '../../receiver/events/event-types.ts';
import type { StoredEventFilter } from '../shapes/webhooks.ts';

/** Returns true if a filter admits an event; an empty filter admits all (interface, "Events", rule 2). */
export function isWanted(type: string, filters: readonly StoredEventFilter[]): boolean {
  if (filters.length === 0) return true;
  const entity = entityOf(type);
  const rest = type.slice(entity.length + 1);
  return filters.some(
    (filter) => filter.entity === entity && (filter.types.length === 0 || filter.types.includes(rest)),
  );
}

/** Describes the first entity or type that the service does not have. */
export function findUnknown(filters: readonly StoredEventFilter[]): string | undefined {
  const known = new Map<string, readonly string[]>(Object.entries(catalog));
  for (const { entity, types } of filters) {
    const knownTypes = known.get(entity);
    if (knownTypes === undefined) {
      return `Unknown entity type: ${entity}; known are ${[...known.keys()].join(', ')}`;
    }
    const unknownType = types.find((type) => !knownTypes.includes(type));
    if (unknownType !== undefined) {
      return `Unknown event type: ${entity}.${unknownType}; types of ${entity} are ${knownTypes.join(', ')}`;
    }
  }
  return undefined;
}
