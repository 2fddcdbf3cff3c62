import { type Command, InvalidArgumentError, Option } from 'commander';
import { d1Migrations } from '../../stores/d1/migrate.ts';
import { defineCommand } from '../define-command.ts';
import { EXIT_CODES_HELP } from '../failure.ts';
import type { JsonOption } from '../options.ts';
import { printSql } from './migration.ts';
import type { StorePart } from './store-part.ts';

export const d1Part: StorePart = { addCommand };

const SQL_HELP = `
Prints the statements that create the tables of posthorn/d1. Write them to a file in the migrations folder of
your Worker, which "wrangler d1 migrations apply" then runs once. For tables that an earlier posthorn has made,
--from prints only what they lack: it goes into a new file.
${EXIT_CODES_HELP}

Examples:
  $ posthorn d1 sql > migrations/0001_posthorn.sql
  $ posthorn d1 sql --from 1 > migrations/0002_posthorn.sql`;

interface FromOption {
  readonly from: number;
}

function addCommand(program: Command): void {
  const group = program.command('d1').description('prepare a D1 database of Cloudflare for posthorn/d1');
  const description = 'print the migration that creates the tables, or brings them up to date';
  defineCommand(group, 'sql', description, SQL_HELP, [fromOption()]).action(
    ({ from, ...options }: FromOption & JsonOption) => printSql(d1Migrations.slice(from).join(''), options),
  );
}

function fromOption(): Option {
  return new Option('--from <version>', 'the version of the tables that are there; 0 if there are none')
    .default(0)
    .argParser((text) => {
      const version = Number(text);
      if (/^\d+$/.test(text) && version < d1Migrations.length) return version;
      throw new InvalidArgumentError(
        `It must be a number from 0 to ${d1Migrations.length - 1}: the tables of this posthorn have the version ` +
          `${d1Migrations.length}.`,
      );
    });
}
