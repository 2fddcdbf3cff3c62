import { InvalidArgumentError, Option } from 'commander';
import * as z from 'zod';
import { errorCodes } from '../../receiver/error-codes.ts';
import { nearestOf } from '../../receiver/events/nearest.ts';
import { isPatternForm } from '../../receiver/events/pattern.ts';
import type { CheckedProvider } from '../../receiver/provider/checked-provider.ts';
import { readDuration } from '../duration.ts';

/** The options that narrow a selection down. */
export function filterOptions(): readonly Option[] {
  return [
    new Option('--type <pattern>', 'of this type, or of types such as transfer.*').argParser(parsePattern),
    new Option('--reason <code>', 'parked for this reason, such as handler_failed').argParser(parseReason),
    new Option(
      '--since <time>',
      'parked since then: ISO 8601 (UTC without a zone), or an age such as 30m, 2h or 3d',
    ).argParser(parseSince),
    new Option('--limit <number>', 'only the first so many of the list').argParser(parseLimit),
    new Option('--after <id>', 'only those that follow this one in the list'),
  ];
}

function parseLimit(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be a whole number from 1 on.');
}

/** Says which form a type of the service has. */
export const TYPE_FORM = 'It must be a type such as transfer.succeeded, a prefix such as transfer.*, or *.';

function parsePattern(text: string): string {
  // A type of another sender may have one segment. Whether a dead letter has it shows later.
  if (hasServiceForm(text) || isPatternForm(text)) return text;
  throw new InvalidArgumentError(TYPE_FORM);
}

/** Returns true for a pattern whose form is that of the service. */
export function hasServiceForm(pattern: string): boolean {
  return pattern === '*' || /^[^.*]+(\.[^.*]+)*\.([^.*]+|\*)$/.test(pattern);
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

/** Returns true for a pattern that the receiver would take. */
export function isPatternOf(provider: Pick<CheckedProvider, 'types'> | undefined, pattern: string): boolean {
  try {
    provider?.types.checkPattern(pattern);
    return provider !== undefined;
  } catch {
    return false;
  }
}
