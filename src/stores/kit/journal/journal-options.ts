import { invalidOption, readInteger } from '../../../receiver/checks/check-options.ts';
import { show } from '../../../receiver/values/foreign-values.ts';
import { readServerOptions } from '../server-options.ts';

/** The options that all journals have. */
export interface JournalOptions {
  /**
   * Names the application and its environment: 1 to 64 letters, digits, `.`, `_` or `-`. The store may have
   * the same scope.
   */
  readonly scope: string;
  /** False to keep neither bodies nor headers; true by default. */
  readonly bodies?: boolean | undefined;
  /**
   * The time after which an entry is deleted, in milliseconds; 2,592,000,000 by default, which is 30 days.
   */
  readonly retentionMs?: number | undefined;
  /**
   * The time after which a statement counts as failed, in milliseconds; 5,000 by default. That includes the
   * wait for the database.
   */
  readonly commandTimeoutMs?: number | undefined;
}

type FilledOptions = { readonly [Name in keyof JournalOptions]-?: NonNullable<JournalOptions[Name]> };

const THIRTY_DAYS_MS = 30 * 86_400_000;

/**
 * Reads the options of a function that creates a journal. `others` has the names of the options that only
 * this function has. Throws ConfigurationError.
 */
export function readJournalOptions(
  functionName: string,
  options: JournalOptions,
  others: readonly string[] = [],
): FilledOptions {
  const names = ['scope', 'bodies', 'retentionMs', 'commandTimeoutMs', ...others];
  const server = readServerOptions(functionName, options, 5_000, names);
  const { bodies = true, retentionMs = THIRTY_DAYS_MS } = options;
  if (typeof bodies !== 'boolean')
    throw invalidOption('bodies', `must be true or false, got ${show(bodies)}`);
  return { ...server, bodies, retentionMs: readInteger('retentionMs', retentionMs) };
}
