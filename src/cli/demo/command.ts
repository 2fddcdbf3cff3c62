import { type Command, Option } from 'commander';
import { defineCommand } from '../define-command.ts';
import { parsePort, signingOptions } from '../options.ts';
import { createReadingOutput, type Output } from '../output.ts';
import { programName } from '../program-name.ts';
import { commandsToTry } from '../sandbox-server.ts';
import { untilSignal } from '../server.ts';
import { requireRedisUrl, withRedis } from '../stores/redis.ts';
import { colours } from '../terminal-text.ts';
import { runScenario } from './scenario.ts';
import { type DemoOptions, type DemoServers, startServers } from './servers.ts';
import { createLocalStorage, createRedisStorage, type DemoStorage } from './storage.ts';

const HELP = `
It starts a sandbox, which plays the service, and a receiver on Node.js http. First it prints the address of the
sandbox's page. Then it shows, there and here, a good event, its duplicate, a forged one, a handler that fails once, and
one that always fails. The clock of both is the sandbox's, which is stepped over the pauses between retries. The last
lines are commands to go on with. Nothing is written but the dead letters, in a new folder whose path is printed.
With REDIS_URL ids and dead letters are kept in that Redis. The key and the credentials are made up if none are given.

Ends on SIGINT or SIGTERM.
Exit codes: 0 ended by a signal, 1 Redis refused the connection, or no folder could be made, 2 wrong usage, the port is
taken or no client of Redis is installed, 3 Redis did not answer.

Examples:
  $ posthorn demo
  $ posthorn demo --port 8080 --json`;

/** `posthorn demo` */
export function addDemo(program: Command): void {
  defineCommand(program, 'demo', 'show what a receiver does with good, forged and failing events', HELP, [
    new Option('--port <number>', 'where the receiver listens (default: 3000, or a free port)')
      .env('PORT')
      .argParser(parsePort),
    ...signingOptions(),
  ]).action(demo);
}

async function demo(options: DemoOptions): Promise<void> {
  const { REDIS_URL = '' } = process.env;
  if (REDIS_URL === '') return play(options, createLocalStorage);
  const url = requireRedisUrl(REDIS_URL, 'REDIS_URL must begin with redis:// or rediss://');
  return withRedis(
    url,
    (redis) => createRedisStorage(redis, url),
    (storage) => play(options, () => storage),
  );
}

async function play(options: DemoOptions, createStorage: (now: () => number) => DemoStorage): Promise<void> {
  const output = createReadingOutput(options);
  const signalled = untilSignal();
  const servers = await startServers(options, createStorage, output);
  try {
    // An error of the scenario ends the demo. Its end does not.
    await Promise.race([signalled, show(servers, output).then(() => signalled)]);
  } finally {
    await servers.close();
  }
}

async function show(servers: DemoServers, output: Output): Promise<void> {
  const { sandbox, sandboxUrl, receiverUrl, outcomes, storage } = servers;
  const { parkedId } = await runScenario(sandbox, output);
  const enabled = await servers.isWebhookEnabled();
  const deliveries = sandbox.deliveries().length;
  const counts = countsOf(outcomes);
  output.print({ kind: 'summary', parked: parkedId, enabled, deliveries, outcomes: counts }, () => [
    '',
    `the webhook is ${enabled ? 'still enabled' : 'disabled'}; ${parkedId} waits in the dead letters`,
    `${deliveries} deliveries: ${textOf(counts)}. Each with request and answer: ${sandboxUrl}/`,
  ]);

  const { letterOptions } = storage;
  const ofLetters = [
    `list ${letterOptions}`,
    `show ${parkedId} ${letterOptions}`,
    'replay --help',
    `drop ${parkedId} ${letterOptions}`,
  ].map((words) => `${programName()} dead-letters ${words}`);
  const ofSandbox = commandsToTry(sandboxUrl);
  output.print(
    { kind: 'listening', url: receiverUrl, try: { deadLetters: ofLetters, sandbox: ofSandbox } },
    () => [
      '',
      colours.strong('look at the dead letter, see how to replay it, or give it up:'),
      ...indented(ofLetters),
      colours.strong('make an event happen, in another terminal, while this runs:'),
      ...indented(ofSandbox),
      'Ctrl-C ends it',
      `listening on ${receiverUrl}`,
    ],
  );
}

function countsOf(outcomes: readonly string[]): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const outcome of outcomes) counts[outcome] = (counts[outcome] ?? 0) + 1;
  return counts;
}

function textOf(counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts)
    .map(([outcome, count]) => `${count} ${outcome}`)
    .join(', ');
}

function indented(commands: readonly string[]): readonly string[] {
  return commands.map((command) => `  ${command}`);
}
