import { InvalidArgumentError, Option } from 'commander';
import * as z from 'zod';
import { errorCodes } from '../../receiver/error-codes.ts';
import { nearestOf } from '../../receiver/events/nearest.ts';
import { readDuration } from '../duration.ts';
import { parseCount } from '../options.ts';
import { typeOption } from '../type-option.ts';

/** The options that narrow a selection down. */
export function filterOptions(): readonly Option[] {
  return [
    typeOption(),
    new Option('--reason <code>', 'parked for this reason, such as handler_failed').argParser(parseReason),
    new Option(
      '--since <time>',
      'parked since then: ISO 8601 (UTC without a zone), or an age such as 30m, 2h or 3d',
    ).argParser(parseSince),
    new Option('--limit <number>', 'only the first so many of the list').argParser(parseCount),
    new Option('--after <id>', 'only those that follow this one in the list'),
  ];
}

const reasons: readonly string[] = Object.values(errorCodes).flat();
const LONGEST_REASON = Math.max(...reasons.map(({ length }) => length));

function parseReason(text: string): string {
  if (reasons.includes(text)) return text;
  const { text: nearest } = nearestOf(text.slice(0, 2 * LONGEST_REASON), reasons);
  throw new InvalidArgumentError(`It must be a code of docs/errors.md; the nearest is ${nearest}.`);
}

function parseSince(text: string): number {
  const ageMs = readDuration(text);
  if (ageMs !== undefined) return Date.now() - ageMs;
  if (z.iso.date().safeParse(text).success) return Date.parse(text);
  if (z.iso.datetime({ offset: true, local: true }).safeParse(text).success) {
    return Date.parse(/(Z|[+-]\d\d:?\d\d)$/.test(text) ? text : `${text}Z`);
  }
  throw new InvalidArgumentError(
    'It must be a time such as 2026-03-31T09:00:00Z, or an age such as 30m, 2h or 3d.',
  );
}
