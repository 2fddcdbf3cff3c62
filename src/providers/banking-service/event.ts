import { MismatchError } from '../checks/parse-with-schema.ts';
import { EventError } from '../errors.ts';
import { messageOf } from '../values/foreign-values.ts';
import { type EventType, eventTypes, type Pattern } from './catalog.ts';
import { checkEnvelope, readableMembers } from './envelope.ts';
import type { DataOf, EventData, Schemas } from './schema.ts';
import { parseTime } from './time.ts';

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
export type KnownEvent<S extends Schemas = Record<never, never>> = {
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
export type UnknownEvent<S extends Schemas = Record<never, never>> = WebhookEvent<
  UnknownType,
  EventData | KnownEvent<S>['data']
>;

/** An event of any type, in the catalog or not: for functions that take the events of all patterns. */
export type AnyEvent<S extends Schemas = Record<never, never>> =
  | KnownEvent<S>
  | WebhookEvent<string, EventData | KnownEvent<S>['data']>;

/**
 * The event that a handler of a pattern receives. A wildcard also matches types that are not in the catalog
 * yet. In a handler of `*`, `event.type === 'transfer.succeeded'` narrows `data`. In a handler of
 * `transfer.*`, `event.type` is a known type or another text that begins with `transfer.`; the type of `data`
 * is the same for all.
 */
export type EventOf<P extends Pattern, S extends Schemas = Record<never, never>> = P extends '*'
  ? KnownEvent<S> | UnknownEvent<S>
  : P extends `${infer Prefix}.*`
    ?
        | Extract<KnownEvent<S>, { type: `${Prefix}.${string}` }>
        | WebhookEvent<`${Prefix}.${string}`, DataOf<P, S>>
    : Extract<KnownEvent<S>, { type: P }>;

/** Narrows an event of any type to the union of the catalog's events. */
export function isKnownEvent<E extends { readonly type: string }>(
  event: E,
): event is Extract<E, { readonly type: EventType }> {
  return eventTypes.has(event.type);
}

/** The entity of an event's type; the type need not be in the catalog. */
export function entityOf(type: string): string {
  return type.slice(0, type.indexOf('.'));
}

// `ignoreBOM: true` keeps a byte order mark in the text, where JSON.parse refuses it (RFC 8259, section 8.1).
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * Parses the event in an authentic body. Throws {@link EventError}. Returns the value of `JSON.parse` itself.
 */
export function parseEvent(rawBody: Uint8Array): AnyEvent {
  let value: unknown;
  try {
    value = JSON.parse(utf8.decode(rawBody));
  } catch (cause) {
    throw new EventError('body_not_json', 'the body is not JSON in strict UTF-8', {}, { cause });
  }
  try {
    checkEnvelope(value);
    return value;
  } catch (cause) {
    if (!(cause instanceof MismatchError)) throw cause;
    throw new EventError(
      'envelope_invalid',
      `the body is not an event: ${messageOf(cause)}`,
      readableMembers(value),
    );
  }
}

/** When the event was created, in milliseconds since the epoch. */
export function createdAtMs(event: WebhookEvent): number {
  // Every parsed event has a valid time. Any other would count as created at the epoch, which is too old.
  return parseTime(event.created_at) ?? 0;
}

/** The most by which a sender's clock may be ahead of ours. */
const FUTURE_TOLERANCE_MS = 5 * 60_000;

/** Throws {@link EventError} for an event in the future, or too old to be distinguished from a replay. */
export function checkAge(event: WebhookEvent, ageMs: number, maxEventAgeMs: number): void {
  if (ageMs > maxEventAgeMs)
    throw wrongAge('event_too_old', event, `longer ago than maxEventAgeMs (${maxEventAgeMs})`);
  if (ageMs < -FUTURE_TOLERANCE_MS && maxEventAgeMs !== Number.POSITIVE_INFINITY)
    throw wrongAge('event_in_future', event, "over 5 minutes ahead of this machine's clock");
}

function wrongAge(
  code: EventError['code'],
  { id, type, created_at }: WebhookEvent,
  when: string,
): EventError {
  return new EventError(code, `the event was created at ${created_at}, ${when}`, { id, type });
}
