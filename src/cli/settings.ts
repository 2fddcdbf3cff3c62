import { usageError } from './failure.ts';

/** A value that a command needs. */
export interface Setting {
  readonly isMissing: boolean;
  /** Names what is missing, and says how to give it. */
  readonly complaint: string;
}

/** A value from an option, or else from the environment. An empty text counts as missing, as everywhere. */
export function setting(
  value: string | undefined,
  what: string,
  variable: string,
  option: string,
): Setting & { readonly value: string } {
  const complaint = `the ${what} is missing: set ${variable} in the environment, or give ${option}`;
  return { value: value ?? '', isMissing: value === undefined || value === '', complaint };
}

/** Throws one error that names all that are missing, so that nobody has to find them one by one. */
export function requireSettings(settings: readonly Setting[]): void {
  const missing = settings.filter(({ isMissing }) => isMissing);
  if (missing.length > 0) throw usageError(missing.map(({ complaint }) => complaint).join('; '));
}
