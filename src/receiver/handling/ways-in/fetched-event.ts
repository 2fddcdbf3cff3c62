import { types } from 'node:util';
import { rememberedMs } from '../../dedupe/retention.ts';
import { ConfigurationError, EventError } from '../../errors.ts';
import { ageOf, checkAge } from '../../events/age.ts';
import { checkBodySize } from '../../request/body-size.ts';
import type { HeaderValues } from '../../request/headers.ts';
import { isRawBody, type RawBody, toBytes } from '../../request/raw-body.ts';
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
 * Reads the event in a fetched body. Throws RequestError if it is too large, and EventError or ReadFailure as
 * `parseEvent` does.
 */
export function readFetched(
  body: RawBody,
  { account, headers }: CheckedAcceptOptions,
  settings: Settings,
): FetchedEvent {
  if (typeof body === 'string' && !body.isWellFormed()) {
    const problem = 'the text has half of a surrogate pair, which UTF-8 cannot hold';
    throw new EventError('body_not_json', problem, {});
  }
  const rawBody = toBytes(body, 'the event of accept()');
  checkBodySize(rawBody.byteLength, settings);
  return { rawBody, headers, ...parseEvent({ rawBody, headers, account }, settings) };
}

/** Returns the body of a fetched event. Throws {@link ConfigurationError} for a value that cannot be one. */
export function toBody(event: unknown): RawBody {
  if (isRawBody(event)) return event;
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
export function checkNotAhead(
  { createdAt, identity }: ParsedEvent,
  { createdAtMs: givenMs }: CheckedAcceptOptions,
  { maxEventAgeMs, now }: Settings,
): void {
  const { createdAtMs = givenMs } = identity;
  const ageMs = Math.min(0, ageOf(createdAtMs, now()));
  // A time of the caller in the future is a mistake of the caller, however old events may be.
  const limitMs = identity.createdAtMs === undefined ? 0 : maxEventAgeMs;
  checkAge({ ...identity, createdAtMs }, createdAt, ageMs, limitMs);
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
