import type { MatchedEvent, PatternOf, TypedEvent } from '../../receiver/events/event-types.ts';
import type { SchemasByEntity } from '../../receiver/events/schema.ts';
import { type EventType, eventTypes } from './catalog.ts';
import type { DataOf, EventData } from './event-data.ts';

/** An event as the service sent it (interface, "Webhook event"). It may have further members. */
export interface WebhookEvent<Type extends string = string, Data = EventData> {
  /** The id, which no other event has. */
  readonly id: string;
  /** The type, as `<entity>.<type>`, for example `transfer.succeeded`. */
  readonly type: Type;
  /** The time of its creation, in ISO 8601 (UTC). */
  readonly created_at: string;
  /** The full resource. */
  readonly data: Data;
}

/** The union of the catalog's events: `type` narrows `data`. */
export type KnownEvent<S extends SchemasByEntity = Record<never, never>> = {
  [Type in EventType]: WebhookEvent<Type, DataOf<Type, S>>;
}[EventType];

declare const unknownType: unique symbol;

/**
 * A type that is not in the catalog yet: a text with a mark that only the compiler sees. TypeScript cannot
 * express "any text but these": a plain `string`, marked or not, would stay possible after each comparison
 * with a known type. A marked template does not. Therefore a comparison of `event.type` with a misspelt or
 * new type does not compile. To compare with any text, write `const type: string = event.type`.
 */
export type UnknownType = `${string}.${string}` & { readonly [unknownType]: true };

/** An event of a type that is not in the catalog yet; its data may be that of any entity. */
export type UnknownEvent<S extends SchemasByEntity = Record<never, never>> = WebhookEvent<
  UnknownType,
  EventData | KnownEvent<S>['data']
>;

/** An event of any type, in the catalog or not: for functions that take the events of all patterns. */
export type AnyEvent<S extends SchemasByEntity = Record<never, never>> =
  | KnownEvent<S>
  | WebhookEvent<string, EventData | KnownEvent<S>['data']>;

/**
 * The event that a handler of a pattern receives; `E` is the union of the provider's events. In the envelope
 * of the service a wildcard also matches types that are not in the catalog yet. In a handler of `*`,
 * `event.type === 'transfer.succeeded'` narrows `data`. In a handler of `transfer.*`, `event.type` is a known
 * type or another text that begins with `transfer.`; the type of `data` is the same for all.
 */
export type EventOf<
  P extends PatternOf<E>,
  S extends SchemasByEntity = Record<never, never>,
  E extends TypedEvent = KnownEvent,
> = string extends E['type'] ? E : [E] extends [WebhookEvent] ? ServiceEventOf<P, S, E> : MatchedEvent<P, E>;

type ServiceEventOf<P extends string, S extends SchemasByEntity, E extends WebhookEvent> = P extends '*'
  ? WithData<E, S> | WebhookEvent<UnknownType, EventData | WithData<E, S>['data']>
  : P extends `${infer Prefix}.*`
    ?
        | WithData<Extract<E, { readonly type: `${Prefix}.${string}` }>, S>
        | WebhookEvent<`${Prefix}.${string}`, DataOf<P, S>>
    : WithData<Extract<E, { readonly type: P }>, S>;

/** Each event of a union, with the data that its schema gives. Without schemas nothing is computed. */
type WithData<E extends WebhookEvent, S extends SchemasByEntity> = [keyof S] extends [never]
  ? E
  : E extends WebhookEvent<infer Type>
    ? WebhookEvent<Type, DataOf<Type, S>>
    : never;

/** Narrows an event of any type to the union of the catalog's events. */
export function isKnownEvent<E extends { readonly type: string }>(
  event: E,
): event is Extract<E, { readonly type: EventType }> {
  return eventTypes.has(event.type);
}
