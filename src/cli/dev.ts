import { once } from 'node:events';
import { connect } from 'node:net';
import { type Command, Option } from 'commander';
import { eventTypes, type Pattern } from '../providers/banking-service/catalog.ts';
import { matchesPattern } from '../receiver/events/pattern.ts';
import { createClient } from '../service/client/create-client.ts';
import type { CreatedWebhook } from '../service/client/webhook-answers.ts';
import { assembleSandbox } from '../service/sandbox/assemble.ts';
import { defaultCredentials } from '../service/sandbox/index.ts';
import { defineCommand } from './define-command.ts';
import {
  addressOf,
  type JsonOption,
  listenOptions,
  parseUrl,
  readAuthentication,
  type SigningOptions,
  signatureHeaderOption,
  signingOptions,
} from './options.ts';
import { createReadingOutput, type Output } from './output.ts';
import { printAttempt } from './print-attempt.ts';
import { programName } from './program-name.ts';
import {
  type ClockKind,
  clockOptions,
  commandsToTry,
  describeClock,
  listenOn,
  type PlayOptions,
  SANDBOX_PORT,
} from './sandbox-server.ts';
import { devSender, sandboxSender } from './sender-advice.ts';
import { untilSignal } from './server.ts';
import { colours, line } from './terminal-text.ts';
import { eventOption } from './webhooks/event-option.ts';

interface DevOptions extends JsonOption, SigningOptions, Omit<PlayOptions, 'clock'> {
  readonly to?: string;
  /** Without it the sandbox ages events. */
  readonly clock?: ClockKind;
  readonly event?: readonly Pattern[];
  readonly signatureHeader?: string;
}

/** The address of the receiver in the README, and of most others under development. */
const USUAL_ADDRESS = 'http://localhost:3000/webhooks';

const HELP = `
It plays the service like posthorn sandbox, creates a webhook for the address, and prints each delivery. The page shows
requests and answers too, and sends events; in another terminal, use posthorn trigger, advance and deliveries.
The signing key comes from SIGNING_KEY or --key, so that the receiver can keep it. Without one, a new key is printed.
An event without an answer, or with any answer but 2xx, is sent again after 1, 5 and 15 minutes. posthorn advance skips
these pauses: it makes all events that have not ended older, so that their next attempts have an earlier created_at,
and the receiver sees what it would see in production. --speed does so all the time. With --clock real or manual events
keep their created_at, and the clock of the sandbox moves instead.
After the third retry the webhook is disabled, as by the service: the page has a button to enable it again.
Below a refused delivery a second line says what the refusal means, and what to do.

Ends on SIGINT or SIGTERM.
Exit codes: 0 ended by a signal, 1 the sandbox refuses the address, 2 wrong usage, or the port is taken.

Examples:
  $ posthorn dev
  $ SIGNING_KEY=… posthorn dev --to http://localhost:8080/hooks --event 'transfer.*' --event dispute.created
  $ BEARER_TOKEN=… posthorn dev --clock manual --port 0 --json`;

/** `posthorn dev` */
export function addDev(program: Command): void {
  defineCommand(program, 'dev', 'play the service for a receiver that is being developed', HELP, [
    new Option(
      '--to <url>',
      `the address of the receiver: https:, or http: on this machine (default: ${USUAL_ADDRESS})`,
    ),
    eventOption(),
    ...signingOptions(),
    signatureHeaderOption(),
    ...listenOptions(SANDBOX_PORT),
    ...clockOptions(),
  ]).action(develop);
}

async function develop({ port, host, clock, speed, ...options }: DevOptions): Promise<void> {
  const output = createReadingOutput(options);
  const to = parseUrl('--to', options.to ?? USUAL_ADDRESS);
  const authentication = readAuthentication(options);
  const { signatureHeader, key = '', event: enabled_events } = options;
  const signingKey = key === '' ? undefined : key;
  const settings = { clock, speed, signatureHeader, signingKey };
  const sandbox = assembleSandbox(settings, { agesEvents: clock === undefined, program: programName() });
  const signalled = untilSignal();
  const { url } = await listenOn(sandbox, port, host);
  try {
    const { administrator } = defaultCredentials;
    const { webhooks } = createClient({ baseUrl: url, administrator });
    const webhook = await webhooks.create({ url: to.href, authentication, enabled_events });
    // Other webhooks of the sandbox, created by hand, may have other keys and credentials.
    const [own, others] = [devSender(signingKey !== undefined), sandboxSender()];
    sandbox.observe((attempt) =>
      printAttempt(output, attempt, attempt.webhook === webhook.id ? own : others),
    );
    printStart(output, url, webhook, options, describeClock(clock, speed));
    if (!(await isListening(to))) {
      output.note(`nothing listens at ${addressOf(to)} yet: until then deliveries fail, and are retried`);
    }
    await signalled;
  } finally {
    await sandbox.close();
  }
}

/** Says what was started, and what to try. A key that was given need not be shown. */
function printStart(
  output: Output,
  url: string,
  { id, url: to, secret_signing_key }: CreatedWebhook,
  options: Pick<DevOptions, 'to' | 'key' | 'event'>,
  clock: string,
): void {
  const isKeyGiven = (options.key ?? '') !== '';
  const commands = commandsToTry(url, wantedType(options.event));
  const noteOnAddress = options.to === undefined ? ' (the usual address: --to takes another)' : '';
  output.print(
    {
      kind: 'listening',
      url,
      page: `${url}/`,
      webhook: { id, url: to },
      ...(!isKeyGiven && { secret_signing_key }),
      try: commands,
    },
    () => [
      line`${colours.strong('page')}         ${url}/`,
      line`${colours.strong('webhook')}      ${id} to ${addressOf(new URL(to))}${noteOnAddress}, ${clock}`,
      line`${colours.strong('signing key')}  ${isKeyGiven ? 'that of SIGNING_KEY or --key' : secret_signing_key}`,
      colours.strong('to try in another terminal:'),
      ...commands.map((command) => `  ${command}`),
    ],
  );
}

/** A type that the webhook wants, so that the commands to try bring about a delivery. */
function wantedType(patterns: readonly Pattern[] = ['*']): string | undefined {
  const isWanted = (type: string): boolean => patterns.some((pattern) => matchesPattern(pattern, type));
  return ['transfer.succeeded', ...eventTypes].find(isWanted);
}

/** An address that does not accept a connection in this time counts as closed. */
const CONNECTION_LIMIT_MS = 2_000;

async function isListening({ hostname, port, protocol }: URL): Promise<boolean> {
  const fallback = protocol === 'https:' ? 443 : 80;
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  const socket = connect({ host, port: port === '' ? fallback : Number(port) });
  try {
    await once(socket, 'connect', { signal: AbortSignal.timeout(CONNECTION_LIMIT_MS) });
    return true;
  } catch {
    return false;
  } finally {
    socket.on('error', () => {}).destroy();
  }
}
