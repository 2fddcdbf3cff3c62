import { type Command, InvalidArgumentError } from 'commander';
import { readDuration } from './duration.ts';
import { EXIT_CODES_HELP } from './failure.ts';
import { type JsonOption, jsonOption } from './options.ts';
import { createOutput } from './output.ts';
import { printAttempt } from './print-attempt.ts';
import { type RunningOption, RunningSandbox, runningOption } from './running-sandbox.ts';

const HELP = `
Every delivery that falls due on the way is made, and its answer printed: retries come after 1, 5 and 15 minutes.
Without a duration the clock moves to the next delivery that is to come.
A receiver that goes by its own clock does not see the time pass, so it does not recognize the last attempt. Each
delivery has the sandbox's time in the header date: docs/develop.md shows how a receiver can go by it.
${EXIT_CODES_HELP}

Examples:
  $ posthorn advance 15m
  $ posthorn advance
  $ posthorn advance 30s --json`;

/** `posthorn advance` */
export function addAdvance(program: Command): void {
  program
    .command('advance')
    .description('move the clock of a running sandbox')
    .argument('[duration]', 'as 30s, 15m, 2h or 1d; to the next delivery by default', parseStep)
    .addOption(runningOption())
    .addOption(jsonOption())
    .addHelpText('after', HELP)
    .action(advance);
}

function parseStep(text: string): number {
  const ms = readDuration(text);
  if (ms !== undefined) return ms;
  throw new InvalidArgumentError('It must be a duration such as 30s, 15m, 2h or 1d.');
}

async function advance(advanceMs: number | undefined, options: JsonOption & RunningOption): Promise<void> {
  const output = createOutput(options);
  const sandbox = new RunningSandbox(options);
  const before = await sandbox.now();
  const step = advanceMs === undefined ? ({ toNextRetry: true } as const) : { advanceMs };
  const now = new Date(await sandbox.advance(step)).toISOString();
  const attempts = (await sandbox.deliveries()).filter(({ at }) => Date.parse(at) > before);
  for (const attempt of attempts) printAttempt(output, attempt);
  output.print({ kind: 'clock', now, deliveries: attempts.length }, () => `the sandbox's clock is at ${now}`);
}
