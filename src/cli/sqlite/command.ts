import type { Command } from 'commander';
import { ConfigurationError } from '../../receiver/errors.ts';
import { isInstance } from '../../receiver/values/foreign-values.ts';
import { type MigratedVersions, migrateFile } from '../../stores/sqlite/migrate.ts';
import { CommandError, EXIT_CODES_HELP } from '../failure.ts';
import { type JsonOption, jsonOption } from '../options.ts';
import { createOutput } from '../output.ts';
import { withSqliteFile } from './file.ts';

const MIGRATE_HELP = `
Creates the tables of posthorn/sqlite in a file, or brings them up to date, and turns on its WAL mode. A file
that does not exist is created, and only this user may read it: run this as the user of the receiver. Stop no
process for it: those that use the file go on.
${EXIT_CODES_HELP}

Examples:
  $ posthorn sqlite migrate /var/lib/billing/events.db`;

/** `posthorn sqlite` */
export function addSqlite(program: Command): void {
  program
    .command('sqlite')
    .description('prepare a file of SQLite for posthorn/sqlite')
    .command('migrate')
    .description('create the tables, or bring them up to date')
    .argument('<file>', 'the path of the file, on a local disk')
    .addOption(jsonOption())
    .addHelpText('after', MIGRATE_HELP)
    .action(migrate);
}

async function migrate(file: string, { json = false }: JsonOption): Promise<void> {
  await withSqliteFile(file, { mayCreate: true }, async (database) => {
    const versions = await migrateFile(database).catch((error: unknown) => {
      // The usage was right, and the file is not.
      throw isInstance(error, ConfigurationError)
        ? new CommandError('failed', error.message, { cause: error })
        : error;
    });
    createOutput({ json }).print({ file, ...versions }, () => describe(file, versions));
  });
}

function describe(file: string, { previous, version }: MigratedVersions): string {
  if (previous === 0) return `created the tables of version ${version} in ${file}`;
  return previous === version
    ? `the tables in ${file} are up to date, at version ${version}: nothing to do`
    : `brought the tables in ${file} from version ${previous} to version ${version}`;
}
