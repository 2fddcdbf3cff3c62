import type { EntityOf, TypedEvent } from '../../receiver/events/event-types.ts';
import type { TypeFilter } from '../../receiver/events/type-rules.ts';
import type { catalog, Entity } from './catalog.ts';
import type { KnownEvent, WebhookEvent } from './event.ts';

/** The wanted types of an entity. Name each type: it is not certain that an empty list means all of them. */
export type EventFilter = {
  [E in Entity]: { readonly entity: E; readonly types: readonly (typeof catalog)[E][number][] };
}[Entity];

/** The filters for some types: `entity` and `types` of each. */
type FilterOfTypes<Type extends string> = {
  [E in EntityOf<Type>]: {
    readonly entity: E;
    readonly types: readonly (Type extends `${E}.${infer Rest}` ? Rest : never)[];
  };
}[EntityOf<Type>];

/** The filters of `receiver.eventFilters`: those of the catalog, or of the types of another provider. */
export type FilterOf<E extends TypedEvent = KnownEvent> = [E] extends [KnownEvent]
  ? EventFilter
  : string extends E['type']
    ? TypeFilter
    : [E] extends [WebhookEvent]
      ? FilterOfTypes<E['type']>
      : TypeFilter;
