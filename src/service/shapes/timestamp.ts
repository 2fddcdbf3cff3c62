import * as z from 'zod';
import { parseTime } from '../../providers/iso-time.ts';
import { assumed } from './assumptions.ts';

/** A time of ISO 8601 in UTC, the form of all other times, read as leniently as those of events. */
export const isoTime: z.ZodType<string> = z
  .string()
  .refine((text) => parseTime(text) !== undefined, 'must be a time in ISO 8601')
  .meta({ format: 'date-time', ...assumed('the times of webhooks and of payment purposes with an offset') });

const FORM = /^(\d\d)\/(\d\d)\/(\d{4}) (\d\d):(\d\d):(\d\d)$/;

/** `MM/DD/YYYY HH:MM:SS`, read as UTC: the form of the FX quotes' times (interface, "FX quote"). */
export const timestamp: z.ZodType<string> = z
  .string()
  .regex(FORM, 'must be a time as MM/DD/YYYY HH:MM:SS')
  .refine((text) => parseTimestamp(text) !== undefined, 'must be a time that exists')
  .meta({ description: 'As `MM/DD/YYYY HH:MM:SS`', examples: ['03/31/2026 09:05:00'] });

/** Returns milliseconds since the epoch, or undefined for any other text, such as 02/30. */
export function parseTimestamp(text: string): number | undefined {
  const [, month, day, year, hour, minute, second] = FORM.exec(text) ?? [];
  const ms = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
  // Date.parse reads 02/30 as 03/02.
  return !Number.isNaN(ms) && formatTimestamp(ms) === text ? ms : undefined;
}

/** Writes milliseconds since the epoch in the service's form; fractions of a second are cut off. */
export function formatTimestamp(ms: number): string {
  const [date = '', time = ''] = new Date(ms).toISOString().split('T');
  const [year, month, day] = date.split('-');
  return `${month}/${day}/${year} ${time.slice(0, 8)}`;
}
