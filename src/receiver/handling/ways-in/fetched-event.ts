import { types } from 'node:util';
import { rememberedMs } from '../../dedupe/retention.ts';
import { ConfigurationError, EventError } from '../../errors.ts';
import { ageOf, checkAge } from '../../events/age.ts';
import { checkBodySize } from '../../request/body-size.ts';
import type { HeaderValues } from '../../request/headers.ts';
import { isRawBody, toBytes } from '../../request/raw-body.ts';
import type { Settings } from '../../settings.ts';
import { dropPromise, messageOf, typeNameOf } from '../../values/foreign-values.ts';
import type { CheckedAcceptOptions } from './accept-options.ts';
import { type ParsedEvent, parseEvent } from './read-event.ts';

/** An event that the application fetched. */
export interface FetchedEvent extends ParsedEvent {
  readonly rawBody: Uint8Array;
  readonly headers: HeaderValues;
}

/**
 * Reads a fetched event: an object, a text or bytes. Throws {@link ConfigurationError} for any other value,
 * RequestError if it is too large, and EventError or ReadFailure as `parseEvent` does.
 */
export function readFetched(
  event: unknown,
  { account, headers }: CheckedAcceptOptions,
  settings: Settings,
): FetchedEvent {
  const rawBody = toBody(event);
  checkBodySize(rawBody.byteLength, settings);
  return { rawBody, headers, ...parseEvent({ rawBody, headers, account }, settings) };
}

/** The body as the sender would have sent it, as far as the event shows it. */
function toBody(event: unknown): Uint8Array {
  if (typeof event === 'string' && !event.isWellFormed())
    throw new EventError(
      'body_not_json',
      'the text has half of a surrogate pair, which UTF-8 cannot hold',
      {},
    );
  return toBytes(isRawBody(event) ? event : toJson(event), 'the event of accept()');
}

function toJson(event: unknown): string {
  if (typeof event !== 'object' || event === null || Array.isArray(event))
    throw notAnEvent(typeNameOf(event));
  // A promise has no members, so it would look like an event without an id.
  if (dropPromise(event)) throw notAnEvent('a promise: await it');
  if (types.isArrayBufferView(event)) throw notAnEvent(typeNameOf(event));
  let json: unknown;
  try {
    json = JSON.stringify(event);
  } catch (cause) {
    throw new ConfigurationError(`accept() got an object that has no JSON: ${messageOf(cause)}`, { cause });
  }
  if (typeof json === 'string') return json;
  throw notAnEvent('an object whose toJSON() returns nothing');
}

function notAnEvent(got: string): ConfigurationError {
  return new ConfigurationError(
    `accept() takes one event, as an object, a text of JSON or its bytes; got ${got}`,
  );
}

/** Throws {@link EventError} for an event that was created too far in the future. */
export function checkNotAhead({ createdAt, identity }: ParsedEvent, { maxEventAgeMs, now }: Settings): void {
  const ageMs = Math.min(0, ageOf(identity.createdAtMs, now()));
  checkAge(identity, createdAt, ageMs, maxEventAgeMs);
}

/**
 * Returns the error for an event that the store may have forgotten: it is older than the store remembers, or
 * its age is not known. Undefined for any other.
 */
export function forgottenError(
  { createdAt, identity }: ParsedEvent,
  { createdAtMs: givenMs }: CheckedAcceptOptions,
  settings: Settings,
): EventError | undefined {
  const { id, type, createdAtMs = givenMs } = identity;
  const limitMs = rememberedMs(identity.createdAtMs !== undefined, settings);
  if (createdAtMs !== undefined && settings.now() - createdAtMs <= limitMs) return undefined;
  const problem =
    createdAtMs === undefined
      ? 'nothing says when the event was created: give createdAtMs'
      : `the event was created at ${createdAt ?? new Date(createdAtMs).toISOString()}, and the store remembers ` +
        `only those of the last ${limitMs} ms for certain (retentionMs)`;
  return new EventError(
    'event_too_old',
    `${problem}. It may have been handled and forgotten: to run it all the same, give allowForgotten: true`,
    { id, type },
  );
}
