import { isFinalByAge } from '../../dedupe/last-attempt.ts';
import { EventError, type PosthornError } from '../../errors.ts';
import { type AnyEvent, createdAtMs, parseEvent } from '../../events/event.ts';
import { readUnchecked } from '../../events/unchecked-event.ts';
import type { Settings } from '../../settings.ts';
import type { Answered } from './answered.ts';

/** The facts about the event of a delivery that its report needs. */
export type EventFacts = Required<Pick<Answered, 'event' | 'isFinalByAge'>>;

/** An event that has been parsed, and its age. */
export interface ParsedEvent extends EventFacts {
  readonly parsed: AnyEvent;
  /** In milliseconds since the epoch. */
  readonly createdAt: number;
  readonly ageMs: number;
}

type AgeSettings = Pick<Settings, 'now' | 'retryScheduleMs'>;

/** Parses an event, and tells its age. */
export function readEvent(rawBody: Uint8Array, { now, retryScheduleMs }: AgeSettings): ParsedEvent {
  const parsed = parseEvent(rawBody);
  const { id, type } = parsed;
  const createdAt = createdAtMs(parsed);
  const ageMs = now() - createdAt;
  return {
    parsed,
    createdAt,
    ageMs,
    event: { id, type },
    isFinalByAge: isFinalByAge(ageMs, retryScheduleMs),
  };
}

/**
 * Returns the facts about an event that is refused. `read` is given if the event could be parsed. After an
 * error inside posthorn its members are read without any check. Without its age, it counts as too old for a
 * retry.
 */
export function factsOfRefused(
  error: PosthornError,
  read: ParsedEvent | undefined,
  rawBody: Uint8Array,
  { now, retryScheduleMs }: AgeSettings,
): EventFacts {
  if (error instanceof EventError) return { event: error.event, isFinalByAge: read?.isFinalByAge ?? false };
  if (read !== undefined) return read;
  const { id, type, createdAt } = readUnchecked(rawBody);
  const isUndated = Number.isNaN(createdAt);
  return { event: { id, type }, isFinalByAge: isUndated || isFinalByAge(now() - createdAt, retryScheduleMs) };
}
