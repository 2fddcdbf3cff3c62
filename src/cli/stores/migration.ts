import { ConfigurationError } from '../../receiver/errors.ts';
import { isInstance } from '../../receiver/values/foreign-values.ts';
import { CommandError } from '../failure.ts';
import type { JsonOption } from '../options.ts';
import { createOutput, endWithReader } from '../output.ts';
import { TerminalText } from '../terminal-text.ts';

/** The versions of tables before and after a migration. */
export interface MigratedVersions {
  readonly previous: number;
  readonly version: number;
  /** The tables that were added without a new version; left out if there were none. */
  readonly added?: readonly string[] | undefined;
}

/** Prints the result of a migration. `place` is a member of the result that names the place of the tables. */
export function printMigration(
  place: Readonly<Record<string, string>>,
  shownPlace: string,
  { previous, version, added }: MigratedVersions,
  options: JsonOption,
): void {
  createOutput(options).print({ ...place, previous, version, ...(added && { added }) }, () => {
    if (added !== undefined)
      return `added ${added.join(', ')} to the tables in ${shownPlace}, which are at version ${version}`;
    if (previous === 0) return `created the tables of version ${version} in ${shownPlace}`;
    return previous === version
      ? `the tables in ${shownPlace} are up to date, at version ${version}: nothing to do`
      : `brought the tables in ${shownPlace} from version ${previous} to version ${version}`;
  });
}

/** The error of a migration. The usage was right if the database has refused it. */
export function migrationError(
  error: unknown,
  wasRefused: (error: ConfigurationError) => boolean = () => true,
): unknown {
  return isInstance(error, ConfigurationError) && wasRefused(error)
    ? new CommandError('failed', error.message, { cause: error })
    : error;
}

/** Prints a script of SQL, which ends with a line feed. */
export function printSql(sql: string, options: JsonOption): void {
  endWithReader();
  createOutput(options).print({ sql }, () => TerminalText.paragraph(sql.replace(/\n$/, '')));
}
