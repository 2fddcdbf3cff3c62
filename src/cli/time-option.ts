import { InvalidArgumentError, Option } from 'commander';
import * as z from 'zod';
import { readDuration } from './duration.ts';

/** An option for a time. `meaning` says what lies before or after it. */
export function timeOption(name: string, meaning: string): Option {
  const forms = 'ISO 8601 (UTC without a zone), or an age such as 30m, 2h or 3d';
  return new Option(`--${name} <time>`, `${meaning}: ${forms}`).argParser(parseTime);
}

function parseTime(text: string): number {
  const time = readTime(text);
  if (time !== undefined) return time;
  throw new InvalidArgumentError(
    'It must be a time such as 2026-03-31T09:00:00Z, or an age such as 30m, 2h or 3d.',
  );
}

function readTime(text: string): number | undefined {
  if (z.iso.date().safeParse(text).success) return Date.parse(text);
  // zod takes a time without seconds only if it has no zone.
  const [, minutes, zone = ''] = /^(.*T\d\d:\d\d)(Z|[+-]\d\d:?\d\d)?$/.exec(text) ?? [];
  const whole = minutes === undefined ? text : `${minutes}:00${zone}`;
  if (z.iso.datetime({ offset: true, local: true }).safeParse(whole).success)
    return Date.parse(/(Z|[+-]\d\d:?\d\d)$/.test(whole) ? whole : `${whole}Z`);
  const ageMs = readAge(text);
  return ageMs === undefined ? undefined : Date.now() - ageMs;
}

/** Reads an age in milliseconds. Undefined for another text, and for an age before the times of a Date. */
export function readAge(text: string): number | undefined {
  const ageMs = readDuration(text);
  if (ageMs === undefined || Number.isNaN(new Date(Date.now() - ageMs).valueOf())) return undefined;
  return ageMs;
}
