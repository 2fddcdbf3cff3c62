import { randomUUID } from 'node:crypto';
import { checkOptions, invalidOption } from '../../checks/check-options.ts';
import { nearestOf } from '../../events/nearest.ts';
import type { Rerun } from '../../outcomes/report.ts';
import { show, textOf } from '../../values/foreign-values.ts';

/** Options of `receiver.rerun`. */
export interface RerunOptions {
  /**
   * The names of the handlers to run once more: one at least. They run one after the other, in this order.
   */
  readonly handlers: readonly string[];
  /** The reason, for the handlers and the report: 1 to 1,000 characters. */
  readonly reason?: string | undefined;
  /**
   * Names the rerun: 1 to 100 characters. Under one name each handler runs once for each event. The store
   * remembers that for `retentionMs` at least, and an inbox for good. By default each call has a name of its
   * own, so a repeated call runs the handlers again.
   */
  readonly run?: string | undefined;
}

/** The options in the form that `rerun` uses. */
export interface CheckedRerunOptions {
  readonly handlers: readonly [string, ...string[]];
  readonly rerun: Rerun;
}

const MAX_REASON_LENGTH = 1_000;

/**
 * Checks the options, and fills in the defaults. `names` are those of the receiver's handlers. Throws
 * {@link ConfigurationError}.
 */
export function readRerunOptions(options: RerunOptions, names: ReadonlySet<string>): CheckedRerunOptions {
  checkOptions(options, ['handlers', 'reason', 'run'], 'rerun()');
  const { reason, run = randomUUID() } = options;
  const handlers = readNames(options.handlers, names);
  // PostgreSQL keeps no text with a NUL in it.
  if (textOf(run) === undefined || !/^[^\0]{1,100}$/su.test(run))
    throw invalidOption(
      'run of rerun()',
      `must be a well-formed text of 1 to 100 characters without NUL, got ${show(run)}`,
    );
  if (reason !== undefined && (textOf(reason) === undefined || reason.length > MAX_REASON_LENGTH))
    throw invalidOption(
      'reason of rerun()',
      `must be a well-formed text of 1 to ${MAX_REASON_LENGTH} characters, got ${show(reason)}`,
    );
  const rerun = reason === undefined ? { run } : { run, reason };
  return { handlers, rerun };
}

function readNames(handlers: unknown, names: ReadonlySet<string>): CheckedRerunOptions['handlers'] {
  const given: readonly unknown[] = Array.isArray(handlers) ? handlers : [];
  for (const name of given) checkName(name, names);
  const [first, ...others] = new Set(given.filter((name) => typeof name === 'string'));
  if (first !== undefined) return [first, ...others];
  throw invalidOption(
    'handlers of rerun()',
    `must be a list with at least one name, such as ['book']; got ${show(handlers)}`,
  );
}

function checkName(name: unknown, names: ReadonlySet<string>): void {
  if (typeof name === 'string' && names.has(name)) return;
  if (names.size === 0)
    throw invalidOption(
      'handlers of rerun()',
      `names ${show(name)}, and no handler of the receiver has a name: give on() the option name`,
    );
  if (typeof name !== 'string')
    throw invalidOption('handlers of rerun()', `must be a list of names; it has ${show(name)}`);
  const { text } = nearestOf(name, [...names]);
  throw invalidOption(
    'handlers of rerun()',
    `names ${show(name)}, and no handler of the receiver has that name; the nearest is ${show(text)}`,
  );
}
