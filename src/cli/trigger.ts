import { type Command, Option } from 'commander';
import { defineCommand } from './define-command.ts';
import { type EventOptions, eventOptions, readEventData, requireListedType } from './event-options.ts';
import { EXIT_CODES_HELP } from './failure.ts';
import type { JsonOption } from './options.ts';
import { createOutput, type Output } from './output.ts';
import { printAttempt } from './print-attempt.ts';
import { type RunningOption, RunningSandbox, runningOption } from './running-sandbox.ts';
import { sandboxSender } from './sender-advice.ts';
import { colours } from './terminal-text.ts';

interface TriggerOptions extends JsonOption, RunningOption, EventOptions {
  readonly duplicate?: boolean;
  readonly changed?: boolean;
  readonly outOfOrder?: boolean;
}

const HELP = `
The event goes to every webhook of the sandbox that is enabled and wants its type. Their answers are printed;
the exit code is always 0. A delivery that fails is retried after 1, 5 and 15 minutes: see posthorn advance.
Below a refused delivery a second line says what the refusal means, and what to do.
--age makes the event old from the start: a receiver with dead letters parks one of 14m whose handler fails.
--out-of-order makes two events of one resource, a second apart, and steps over two seconds.
${EXIT_CODES_HELP}

Examples:
  $ posthorn trigger transfer.succeeded
  $ posthorn trigger dispute.created --data '{"id":"DI1","amount":1250}'
  $ posthorn trigger transfer.failed --duplicate
  $ posthorn trigger transfer.failed --changed   # expect 403
  $ posthorn trigger transfer.failed --age 14m
  $ POSTHORN_SANDBOX=http://127.0.0.1:4020 posthorn trigger transfer.updated --out-of-order --json`;

/** `posthorn trigger` */
export function addTrigger(program: Command): void {
  defineCommand(program, 'trigger', 'make an event happen in a running sandbox', HELP, [
    ...eventOptions(),
    kindOption('--duplicate', 'deliver it twice at the same moment', 'changed', 'outOfOrder'),
    kindOption('--changed', 'change its body after it was signed; never retried', 'duplicate', 'outOfOrder'),
    kindOption('--out-of-order', 'two of one resource, the newer one first', 'duplicate', 'changed'),
    runningOption(),
  ])
    .argument('<type>', 'the type of the event, for example transfer.succeeded')
    .action(trigger);
}

function kindOption(flag: string, description: string, ...others: string[]): Option {
  return new Option(flag, description).conflicts(others);
}

async function trigger(type: string, options: TriggerOptions): Promise<void> {
  const output = createOutput(options);
  const { data, id, age = 0, duplicate, changed, outOfOrder } = options;
  requireListedType(type, options, (nearest) => `: did you mean ${nearest}?`);
  const sandbox = new RunningSandbox(options);
  const event = await sandbox.send({
    type,
    ...(id !== undefined && { id }),
    ...(data !== undefined && { data: await readEventData(data) }),
    ...(age > 0 && { ageMs: age }),
    ...(duplicate && { duplicates: 1 }),
    ...(changed && { changed }),
    ...(outOfOrder && { outOfOrder }),
  });
  output.print(
    { kind: 'event', ...event },
    () => `${event.created_at} ${event.type} ${event.id} has happened`,
  );
  // Nothing is stepped over, but the sandbox answers once every delivery that is due has ended.
  const { now } = await sandbox.advance({ advanceMs: 0 });
  // With --out-of-order the newer event has another id.
  const happenedAt = Date.parse(event.created_at) + age;
  const attempts = (await sandbox.deliveries(outOfOrder ? {} : { event: event.id })).filter(
    ({ at }) => Date.parse(at) >= happenedAt,
  );
  for (const attempt of attempts) printAttempt(output, attempt, sandboxSender());
  if (attempts.length === 0) {
    output.note(
      'nothing was delivered: no webhook of the sandbox is enabled and wants this type. The page has a button ' +
        'that enables one again',
    );
  }
  noteFuture(now, output.note);
}

/** Beyond this a receiver refuses an event as `event_in_future`, unless it goes by the sandbox's clock. */
const FUTURE_LIMIT_MS = 300_000;

function noteFuture(now: number, note: Output['note']): void {
  const aheadMs = now - Date.now();
  if (aheadMs < FUTURE_LIMIT_MS) return;
  note(
    colours.doubtful(
      `the sandbox's clock is ${Math.round(aheadMs / 60_000)} minutes ahead of this machine's: a receiver that ` +
        'does not go by it refuses or parks new events (event_in_future). Start the sandbox again',
    ),
  );
}
