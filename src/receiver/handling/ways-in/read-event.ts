import { isFinalByAge } from '../../dedupe/last-attempt.ts';
import { EventError, type PosthornError } from '../../errors.ts';
import { ageOf, checkAge } from '../../events/age.ts';
import type { TypedEvent } from '../../events/event-types.ts';
import type { EventIdentity, EventMembers } from '../../provider/event-identity.ts';
import { isReadFailure } from '../../provider/read-failure.ts';
import type { HeaderValues } from '../../request/headers.ts';
import { SentHeaders } from '../../request/single-headers.ts';
import type { Settings } from '../../settings.ts';
import { isInstance, textOf } from '../../values/foreign-values.ts';
import type { Answered } from './answered.ts';

/** The facts about the event of a delivery that its report needs. */
export type EventFacts = Required<Pick<Answered, 'event' | 'isFinalByAge'>>;

/** An event that has been read. */
export interface ParsedEvent {
  readonly identity: EventIdentity;
  /** When it was created, as the sender wrote it. */
  readonly createdAt: string | undefined;
  /** The event that handlers get. */
  readonly event: TypedEvent;
}

/** An event of a delivery, and its age. */
export interface AgedEvent extends ParsedEvent {
  readonly ageMs: number;
  readonly isFinalByAge: boolean;
}

/** A body of an event, with the headers that came with it. */
interface EventContent {
  readonly rawBody: Uint8Array;
  readonly headers: HeaderValues;
  readonly account?: string | undefined;
}

/** Reads the event in an authentic body. Throws {@link EventError}, or ReadFailure. */
export function parseEvent(
  { account, headers, rawBody }: EventContent,
  { provider }: Pick<Settings, 'provider'>,
): ParsedEvent {
  const sent = new SentHeaders(headers);
  const read = provider.readEvent({ rawBody, headers: sent });
  const { id, type, createdAtMs, createdAt, event } = read;
  if (sent.isTooLong) throw new EventError('envelope_invalid', 'a header of the event is too long', {});
  const key = provider.keyOf({ id, account });
  // A resource that is not a text is left out: no event may be refused for it.
  const resource = textOf(read.resource);
  const identity = { key, id, type, createdAtMs, provider: provider.name, account, resource };
  return { identity, createdAt, event };
}

/** Reads the event of a delivery, and tells its age. */
export function readEvent(content: EventContent, settings: Settings): AgedEvent {
  const { identity, createdAt, event } = parseEvent(content, settings);
  const ageMs = ageOf(identity.createdAtMs, settings.now());
  return { identity, createdAt, event, ageMs, isFinalByAge: isFinalByAge(ageMs, settings.retries) };
}

/**
 * Checks the age of an event that was delivered. If the request has a signed time, an old copy of it has been
 * refused already, so that only an age that the user has set counts.
 */
export function checkDeliveredAge(
  { ageMs, createdAt, identity }: Pick<AgedEvent, 'ageMs' | 'createdAt' | 'identity'>,
  isTimed: boolean,
  { isAgeOfTimedLimited, maxEventAgeMs }: Settings,
): void {
  if (!isTimed || isAgeOfTimedLimited) checkAge(identity, createdAt, ageMs, maxEventAgeMs);
}

/** Returns the members of an event that could be read before `error`. */
export function membersOfRefused(error: unknown): EventMembers {
  return isReadFailure(error) || isInstance(error, EventError) ? error.event : {};
}

/**
 * Returns the facts about an event that is refused. `read` is given if the event could be read. After an
 * error inside posthorn its members are read without any check. Without its age, it counts as too old for a
 * retry.
 */
export function factsOfRefused(
  thrown: unknown,
  error: PosthornError,
  read: AgedEvent | undefined,
  { now, retries }: Pick<Settings, 'now' | 'retries'>,
): EventFacts {
  if (error instanceof EventError)
    return { event: read?.identity ?? error.event, isFinalByAge: read?.isFinalByAge ?? false };
  if (read !== undefined) return { event: read.identity, isFinalByAge: read.isFinalByAge };
  const createdAtMs = isReadFailure(thrown) ? thrown.createdAtMs : undefined;
  const isUndated = createdAtMs === undefined;
  return {
    event: membersOfRefused(thrown),
    isFinalByAge: isUndated || isFinalByAge(now() - createdAtMs, retries),
  };
}
