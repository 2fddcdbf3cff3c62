import * as z from 'zod/mini';

/** An existing time with a zone (RFC 3339): `Date.parse` would read 02/30 as 03/02. */
const complete: z.ZodMiniISODateTime = z.iso.datetime({ offset: true });

/** The parts of a time, in every other form that ISO 8601 allows. */
const LENIENT =
  /^(\d{4}-\d\d-\d\d)[Tt ](\d\d:\d\d)(?::(\d\d)(?:[.,](\d+))?)?(?:([Zz])|([+-]\d\d)(?::?(\d\d))?)?$/;

/** Returns true for a text that {@link parseTime} reads, without the cost of `Date.parse`. */
export function isTime(text: string): boolean {
  return toComplete(text) !== undefined;
}

/**
 * Reads a time of ISO 8601 as milliseconds since the epoch; undefined for any other text. The zone may be
 * `Z`, `+00:00`, `+0000` or `+00`; without one the time is UTC. A space may stand for the `T`, and a comma
 * for the point. Seconds may be left out.
 */
export function parseTime(text: string): number | undefined {
  const time = toComplete(text);
  return time === undefined ? undefined : Date.parse(time);
}

/** Further digits are cut off. */
const DIGITS_OF_MICROSECONDS = 6;

/**
 * Does the same as {@link parseTime}, with microseconds as a fraction: two events of one resource can be
 * created in the same millisecond.
 */
export function parseTimeInParts(text: string): number | undefined {
  const ms = parseTime(text);
  if (ms === undefined || text.length <= '2026-03-31T09:05:00.123Z'.length) return ms;
  const [, fraction = ''] = /[.,](\d+)/.exec(text) ?? [];
  const beyondMs = fraction.slice(3, DIGITS_OF_MICROSECONDS).padEnd(3, '0');
  return ms + Number(beyondMs) / 1_000;
}

function toComplete(text: string): string | undefined {
  if (z.validate(complete, text)) return text;
  const [, date, time, seconds = '00', fraction = '0', utc, hours, minutes = '00'] = LENIENT.exec(text) ?? [];
  const zone = utc !== undefined || hours === undefined ? 'Z' : `${hours}:${minutes}`;
  const repaired = `${date}T${time}:${seconds}.${fraction}${zone}`;
  return z.validate(complete, repaired) ? repaired : undefined;
}
