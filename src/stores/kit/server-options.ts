import { checkOptions, readDuration, readScope } from '../../receiver/checks/check-options.ts';

/** The options that stores and dead letters on a server have. */
export interface ServerOptions {
  readonly scope: string;
  readonly commandTimeoutMs: number;
}

/**
 * Reads the options of a function that creates a store or dead letters. `defaultMs` is the default of
 * `commandTimeoutMs`, and `names` has the names of all options. Throws ConfigurationError.
 */
export function readServerOptions(
  functionName: string,
  options: { readonly scope: string; readonly commandTimeoutMs?: number | undefined },
  defaultMs: number,
  names: readonly string[] = ['scope', 'commandTimeoutMs'],
): ServerOptions {
  checkOptions(options, names, functionName);
  const { commandTimeoutMs = defaultMs } = options;
  readDuration('commandTimeoutMs', commandTimeoutMs);
  return { scope: readScope(functionName, options.scope), commandTimeoutMs };
}
