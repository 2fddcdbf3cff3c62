import { type Command, Option } from 'commander';
import { defineCommand } from './define-command.ts';
import { EXIT_CODES_HELP } from './failure.ts';
import type { JsonOption } from './options.ts';
import { createReadingOutput } from './output.ts';
import { printAttempt } from './print-attempt.ts';
import { type RunningOption, RunningSandbox, runningOption } from './running-sandbox.ts';

interface DeliveriesOptions extends JsonOption, RunningOption {
  readonly event?: string;
  readonly webhook?: string;
}

const HELP = `
The oldest comes first; a sandbox keeps the last 1,000. With --json each has its request and its answer.
${EXIT_CODES_HELP}

Examples:
  $ posthorn deliveries
  $ posthorn deliveries --event evt_1 --json | jq .response.body`;

/** `posthorn deliveries` */
export function addDeliveries(program: Command): void {
  defineCommand(program, 'deliveries', 'list the deliveries of a running sandbox, and the answers', HELP, [
    new Option('--event <id>', 'of this event'),
    new Option('--webhook <id>', 'to this webhook'),
    runningOption(),
  ]).action(list);
}

async function list(options: DeliveriesOptions): Promise<void> {
  const output = createReadingOutput(options);
  const { event, webhook } = options;
  const attempts = await new RunningSandbox(options).deliveries({ event, webhook });
  for (const attempt of attempts) printAttempt(output, attempt);
  if (attempts.length === 0) output.note('nothing has been delivered yet');
}
