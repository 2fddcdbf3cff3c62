import { catalog } from '../receiver/events/catalog.ts';
import { entityOf } from '../receiver/events/event.ts';
import type { Report } from '../receiver/outcomes/report.ts';

/**
 * The entity of the event, or `other` for one outside the catalog: an authentic event can have any type, and
 * metrics keep each value for good. Undefined if no type could be read.
 */
export function knownEntityOf({ event }: Report): string | undefined {
  if (event?.type === undefined) return undefined;
  const entity = entityOf(event.type);
  return Object.hasOwn(catalog, entity) ? entity : 'other';
}
