import { Command, CommanderError } from 'commander';
import { isInstance } from '../errors.ts';
import { addAdvance } from './advance.ts';
import { addDeadLetters } from './dead-letters/command.ts';
import { addDeliveries } from './deliveries.ts';
import { addDev } from './dev.ts';
import { addEChecks } from './e-checks.ts';
import { EXIT_CODES_HELP, exitCodes } from './failure.ts';
import { addFxQuotes } from './fx-quotes.ts';
import { addListen } from './listen.ts';
import { addLists } from './lists.ts';
import { version } from './manifest.ts';
import { addPostgres } from './postgres/command.ts';
import { addSandbox } from './sandbox.ts';
import { addSend } from './send.ts';
import { addTrigger } from './trigger.ts';
import { addVerify } from './verify.ts';
import { addWebhooks } from './webhooks/command.ts';

/**
 * Runs one command to its end. What went wrong with it is thrown,
 * except for what commander has printed itself.
 */
export async function run(argv: readonly string[]): Promise<void> {
  try {
    await createProgram().parseAsync(argv);
  } catch (error) {
    if (!isInstance(error, CommanderError)) throw error;
    process.exitCode = error.exitCode === 0 ? exitCodes.ok : exitCodes.usage;
  }
}

function createProgram(): Command {
  const program = new Command('posthorn')
    .description(
      'Webhooks of the payments and banking service: receive, send, check, manage and replay them; its FX ' +
        'quotes, eChecks and reference lists.',
    )
    .version(version)
    .helpCommand(true)
    .exitOverride()
    .configureOutput({ outputError: (text, write) => write(toOwnForm(text)) })
    .addHelpText('after', EXIT_CODES_HELP);
  addDev(program);
  addTrigger(program);
  addDeliveries(program);
  addAdvance(program);
  addSandbox(program);
  addListen(program);
  addSend(program);
  addVerify(program);
  addWebhooks(program);
  addDeadLetters(program);
  addPostgres(program);
  addFxQuotes(program);
  addEChecks(program);
  addLists(program);
  return program;
}

/** The value of a misspelt option, as in `--keey=…`, may be a secret. */
function toOwnForm(text: string): string {
  return text.replace(/^error: /, 'posthorn: ').replace(/'(--?[^'=\s]+)=[^\n]*'/, "'$1=…'");
}
