import type { Command } from 'commander';
import { d1Migration } from '../../d1/migration.ts';
import { EXIT_CODES_HELP } from '../failure.ts';
import { writeText } from '../output.ts';

const SQL_HELP = `
Prints the statements that create the tables of posthorn/d1. Write them to a file in the migrations folder of
your Worker, which "wrangler d1 migrations apply" then runs once.
${EXIT_CODES_HELP}

Examples:
  $ posthorn d1 sql > migrations/0001_posthorn.sql`;

/** `posthorn d1` */
export function addD1(program: Command): void {
  program
    .command('d1')
    .description('prepare a D1 database of Cloudflare for posthorn/d1')
    .command('sql')
    .description('print the migration that creates the tables')
    .addHelpText('after', SQL_HELP)
    .action(() => writeText('stdout', d1Migration));
}
