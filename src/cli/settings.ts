import { usageError } from './failure.ts';

/** A value that a command cannot do without, from an option or else from the environment. */
export interface Setting {
  /** Empty if it is missing. */
  readonly value: string;
  /** What is missing then, and how to give it. */
  readonly complaint: string;
}

/** An empty text counts as missing, as everywhere. */
export function setting(value: string | undefined, what: string, variable: string, option: string): Setting {
  const complaint = `the ${what} is missing: set ${variable} in the environment, or give ${option}`;
  return { value: value ?? '', complaint };
}

/** Throws one error that names all that are missing, so that nobody has to find them one by one. */
export function requireSettings(settings: readonly Setting[]): void {
  const missing = settings.filter(({ value }) => value === '');
  if (missing.length > 0) throw usageError(missing.map(({ complaint }) => complaint).join('; '));
}
