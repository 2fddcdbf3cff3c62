import { EventError } from '../errors.ts';

/** An event whose age is checked. */
interface DatedEvent {
  readonly id: string;
  readonly type: string;
  readonly createdAtMs?: number | undefined;
}

/** The latest time that a Date can hold (ECMAScript, "Time Values and Time Range"). */
const MAX_TIME_MS = 8.64e15;

/** Returns true for a time in milliseconds since the epoch. */
export function isTimeMs(value: unknown): value is number {
  return typeof value === 'number' && Math.abs(value) <= MAX_TIME_MS;
}

/** The age of an event, in milliseconds; 0 if its sender does not say when it was created. */
export function ageOf(createdAtMs: number | undefined, now: number): number {
  return createdAtMs === undefined ? 0 : now - createdAtMs;
}

/** The most by which a sender's clock may be ahead of ours. */
const FUTURE_TOLERANCE_MS = 5 * 60_000;

/**
 * Throws {@link EventError} for an event in the future, or too old to be distinguished from a delivery that
 * was recorded and is sent again.
 */
export function checkAge(
  event: DatedEvent,
  createdAt: string | undefined,
  ageMs: number,
  maxEventAgeMs: number,
): void {
  if (ageMs > maxEventAgeMs)
    throw wrongAge('event_too_old', event, createdAt, `longer ago than maxEventAgeMs (${maxEventAgeMs})`);
  if (ageMs < -FUTURE_TOLERANCE_MS && maxEventAgeMs !== Number.POSITIVE_INFINITY)
    throw wrongAge('event_in_future', event, createdAt, "over 5 minutes ahead of this machine's clock");
}

function wrongAge(
  code: EventError['code'],
  { id, type, createdAtMs = 0 }: DatedEvent,
  createdAt: string = new Date(createdAtMs).toISOString(),
  when: string,
): EventError {
  return new EventError(code, `the event was created at ${createdAt}, ${when}`, { id, type });
}
