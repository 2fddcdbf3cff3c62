import type { catalog, Entity } from './catalog.ts';

/** The wanted types of an entity. Name each type: it is not certain that an empty list means all of them. */
export type EventFilter = {
  [E in Entity]: { readonly entity: E; readonly types: readonly (typeof catalog)[E][number][] };
}[Entity];
