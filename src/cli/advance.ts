import { type Command, InvalidArgumentError } from 'commander';
import { defineCommand } from './define-command.ts';
import { describeDuration, readDuration } from './duration.ts';
import { EXIT_CODES_HELP } from './failure.ts';
import type { JsonOption } from './options.ts';
import { createOutput } from './output.ts';
import { printAttempt } from './print-attempt.ts';
import { type RunningOption, RunningSandbox, runningOption } from './running-sandbox.ts';

const HELP = `
Every delivery that falls due on the way is made, and its answer printed: retries come after 1, 5 and 15 minutes.
Without a duration the step goes to the next delivery that is to come.
The step makes all events of posthorn dev that have not ended older: their next attempts have an earlier created_at, so
that the receiver sees what it would see in production. Its own clock and new events keep the real time.
The clock of posthorn sandbox, and of posthorn dev --clock real or manual, moves instead, and events keep their
created_at. A receiver that goes by another clock does not see the time pass.
${EXIT_CODES_HELP}

Examples:
  $ posthorn advance 21m
  $ posthorn advance
  $ posthorn advance 30s --json`;

/** `posthorn advance` */
export function addAdvance(program: Command): void {
  defineCommand(program, 'advance', 'step over the pauses between attempts in a running sandbox', HELP, [
    runningOption(),
  ])
    .argument('[duration]', 'as 30s, 15m, 2h or 1d; to the next delivery by default', parseStep)
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
  const { now, agedMs } = await sandbox.advance(step);
  // A clock that stands had this time in earlier attempts as well.
  const since = agedMs === undefined ? before + 1 : before;
  const attempts = (await sandbox.deliveries()).filter(({ at }) => Date.parse(at) >= since);
  for (const attempt of attempts) printAttempt(output, attempt);
  const time = new Date(now).toISOString();
  output.print({ kind: 'clock', now: time, agedMs, deliveries: attempts.length }, () =>
    agedMs === undefined
      ? `the sandbox's clock is at ${time}`
      : `what has not ended is ${describeDuration(agedMs)} older`,
  );
}
