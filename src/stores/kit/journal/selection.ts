import { checkOptions, invalidOption, readInteger } from '../../../receiver/checks/check-options.ts';
import { isPatternForm } from '../../../receiver/events/pattern.ts';
import {
  type JournalOutcome,
  type JournalSelection,
  journalOutcomes,
} from '../../../receiver/journal/journal.ts';
import { show } from '../../../receiver/values/foreign-values.ts';
import { storableText } from './stored-record.ts';

const MEMBERS = ['type', 'outcome', 'since', 'until', 'resource', 'after', 'limit', 'bodies'];

/** A selection whose members have been checked; its texts are as they are stored. */
export interface CheckedSelection {
  /** Undefined if any type will do. */
  readonly type: string | undefined;
  readonly outcome: JournalOutcome | undefined;
  readonly since: number;
  readonly until: number;
  readonly resource: string | undefined;
  readonly after: string | undefined;
  readonly limit: number;
  readonly bodies: boolean;
}

/** Checks a selection. Throws ConfigurationError. */
export function readSelection(selection: JournalSelection): CheckedSelection {
  checkOptions(selection, MEMBERS, 'list()');
  const { type = '*', outcome, resource, after, limit, bodies = true } = selection;
  if (!isPatternForm(type)) throw invalidOption('type', `must be a type or a pattern, got ${show(type)}`);
  if (outcome !== undefined) checkOutcome(outcome);
  for (const [name, text] of Object.entries({ resource, after }))
    if (text !== undefined && typeof text !== 'string')
      throw invalidOption(name, `must be a text, got ${show(text)}`);
  if (typeof bodies !== 'boolean')
    throw invalidOption('bodies', `must be true or false, got ${show(bodies)}`);
  return {
    type: type === '*' ? undefined : storableText(type),
    outcome,
    since: readTime('since', selection.since, Number.MIN_SAFE_INTEGER),
    until: readTime('until', selection.until, Number.MAX_SAFE_INTEGER),
    resource: resource && storableText(resource),
    after,
    limit: limit === undefined ? Number.POSITIVE_INFINITY : readInteger('limit', limit),
    bodies,
  };
}

function checkOutcome(outcome: JournalOutcome): void {
  if (journalOutcomes.includes(outcome)) return;
  throw invalidOption('outcome', `must be one of ${journalOutcomes.join(', ')}; got ${show(outcome)}`);
}

function readTime(name: string, value: unknown, missing: number): number {
  if (value === undefined) return missing;
  if (typeof value === 'number' && Math.abs(value) <= Number.MAX_SAFE_INTEGER) return Math.ceil(value);
  throw invalidOption(name, `must be a time in milliseconds since the epoch, got ${show(value)}`);
}
