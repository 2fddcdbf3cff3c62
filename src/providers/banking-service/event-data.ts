import type { EntityOf } from '../../receiver/events/event-types.ts';
import type { SchemasByEntity, StandardSchemaV1 } from '../../receiver/events/schema.ts';
import type { Entity } from './catalog.ts';

/** Validators of `event.data`, by entity. */
export type Schemas = { readonly [E in Entity]?: StandardSchemaV1 };

/** `event.data` without a schema: the members that the interface shows, and any others. */
export interface EventData {
  /** The id of the resource, not of the event. */
  id?: string;
  /** The state of the resource, for example `SUCCEEDED`. */
  state?: string;
  /** An integer. Its unit and its currency are not documented. */
  amount?: number;
  /** Notes that the owner of the resource has made on it. */
  tags?: Record<string, unknown>;
  /** Any other member of the resource. */
  [member: string]: unknown;
}

/**
 * The type of `event.data` for a type or wildcard: the output of the entity's schema, or {@link EventData}.
 */
export type DataOf<Type extends string, S extends SchemasByEntity> =
  EntityOf<Type> extends infer E extends keyof S
    ? S[E] extends StandardSchemaV1<unknown, infer Output>
      ? Output
      : EventData
    : EventData;
