import { InvalidArgumentError, Option } from 'commander';
import { errorCodes } from '../../receiver/error-codes.ts';
import { nearestOf } from '../../receiver/events/nearest.ts';
import { portionOptions } from '../options.ts';
import { timeOption } from '../time-option.ts';
import { typeOption } from '../type-option.ts';

/** The options that narrow a selection down. */
export function filterOptions(): readonly Option[] {
  return [
    typeOption(),
    new Option('--reason <code>', 'parked for this reason, such as handler_failed').argParser(parseReason),
    timeOption('since', 'parked since then'),
    ...portionOptions(),
  ];
}

const reasons: readonly string[] = Object.values(errorCodes).flat();
const LONGEST_REASON = Math.max(...reasons.map(({ length }) => length));

function parseReason(text: string): string {
  if (reasons.includes(text)) return text;
  const { text: nearest } = nearestOf(text.slice(0, 2 * LONGEST_REASON), reasons);
  throw new InvalidArgumentError(`It must be a code of docs/errors.md; the nearest is ${nearest}.`);
}
