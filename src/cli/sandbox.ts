import { randomUUID } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Command, Option } from 'commander';
import { assembleSandbox } from '../service/sandbox/assemble.ts';
import { defaultCredentials, type SandboxCredentials } from '../service/sandbox/index.ts';
import { E_CHECKS_QUERY, paths } from '../service/shapes/paths.ts';
import { defineCommand } from './define-command.ts';
import { type JsonOption, listenOptions, parseUserAndPassword } from './options.ts';
import { createOutput } from './output.ts';
import { programName } from './program-name.ts';
import { quote } from './quote.ts';
import { clockOptions, describeClock, listenOn, type PlayOptions, SANDBOX_PORT } from './sandbox-server.ts';
import { untilSignal } from './server.ts';
import { colours, line } from './terminal-text.ts';

interface SandboxCommandOptions extends JsonOption, PlayOptions {
  readonly state?: string;
  readonly signatureHeader?: string;
  readonly administrator?: string;
  readonly user?: string;
  readonly bankingToken?: string;
  readonly apiKey?: string;
  readonly accessToken?: string;
}

const HELP = `
It serves every path of the service's interface, and delivers events over HTTP to the webhooks that you create in it.
Its page at the root shows deliveries, and sends events. Its own controls are below /sandbox/: POST events,
GET events/{id}, POST events/{id}/resend, GET samples/{type}, GET and POST clock, GET deliveries, POST clear,
POST webhooks/{id}/enable, POST webhooks/{id}/key, POST fxQuotes/{id}/accept; posthorn trigger, advance and deliveries
use some of them. A resend sends a copy, which is never retried; clear forgets the events that have ended.
Each POST needs Content-Type: application/json. Web pages of other origins are refused, and so is a Host other than
localhost, a loopback address, the value of --host or, over a network, an IP address.
An event is {type, data?, id?, duplicates?, changed?, delayMs?, ageMs?}: duplicates are sent beside it, changed means
that its body changes after it was signed, delayMs lets others overtake it, and ageMs makes it old from the start.
outOfOrder makes two events, the newer one first.
With --clock manual time moves by POST /sandbox/clock only: step over the 1, 5 and 15 minutes of the retries at will.
eChecks can be found for the ids MTX-1001 (one), MTX-1002 (two) and MTX-1003 (one that was returned).

Ends on SIGINT or SIGTERM.
Exit codes: 0 ended by a signal, 2 wrong usage, or the port is taken.

Examples:
  $ posthorn sandbox
  $ posthorn sandbox --clock manual --state sandbox.json
  $ SANDBOX_ADMINISTRATOR=admin:secret posthorn sandbox --speed 60 --port 0 --json`;

/** `posthorn sandbox` */
export function addSandbox(program: Command): void {
  defineCommand(program, 'sandbox', 'play the service on this machine', HELP, [
    ...listenOptions(SANDBOX_PORT),
    ...clockOptions('real'),
    new Option('--state <file>', 'keep the state in this file; it holds secrets'),
    new Option(
      '--signature-header <name>',
      'the header that holds the signature (default: "x-service-signature")',
    ),
    new Option('--administrator <user:password>', 'the user who may manage webhooks').env(
      'SANDBOX_ADMINISTRATOR',
    ),
    new Option('--user <user:password>', 'a user who may not').env('SANDBOX_USER'),
    new Option('--banking-token <token>', 'for FX quotes and eChecks').env('SANDBOX_BANKING_TOKEN'),
    new Option('--api-key <key>', 'for the same').env('SANDBOX_API_KEY'),
    new Option('--access-token <token>', 'for the reference lists').env('SANDBOX_ACCESS_TOKEN'),
  ]).action(play);
}

async function play(options: SandboxCommandOptions): Promise<void> {
  const { port, host, clock, speed, state, signatureHeader } = options;
  const output = createOutput(options);
  const credentials = readCredentials(options);
  const settings = { ...credentials, clock, speed, state, signatureHeader };
  const sandbox = assembleSandbox(settings, { program: programName() });
  const signalled = untilSignal();
  const { url } = await listenOn(sandbox, port, host);
  const commands = commandsOfService(url, credentials, clock);
  const exported = `export ${assignments(variablesOf(url, credentials))}`;
  output.print(
    { kind: 'listening', url, clock, speed, state, credentials, try: [...commands, exported] },
    () => [
      line`${colours.strong('sandbox')} on ${url}, ${describeClock(clock, speed)}, state in ${state ?? 'memory only'}`,
      `  page           ${url}/`,
      ...linesOf(credentials),
      colours.strong('to try in another terminal:'),
      ...commands.map((command) => `  ${command}`),
      colours.strong('before other commands of posthorn there:'),
      `  ${exported}`,
    ],
  );
  await signalled;
  await sandbox.close();
}

function readCredentials(options: SandboxCommandOptions): SandboxCredentials {
  const { bankingToken, apiKey, accessToken } = options;
  const { administrator, user, banking, profile } = defaultCredentials;
  const readUser = (name: 'administrator' | 'user'): SandboxCredentials['user'] | undefined => {
    const given = options[name];
    return given === undefined ? undefined : parseUserAndPassword(`--${name}`, given);
  };
  return {
    administrator: readUser('administrator') ?? administrator,
    user: readUser('user') ?? user,
    banking: { token: bankingToken ?? banking.token, apiKey: apiKey ?? banking.apiKey },
    profile: { accessToken: accessToken ?? profile.accessToken },
  };
}

function linesOf({ administrator, user, banking, profile }: SandboxCredentials): string[] {
  return [
    `  administrator  ${administrator.username}:${administrator.password}`,
    `  other user     ${user.username}:${user.password}`,
    `  banking token  ${banking.token}`,
    `  API key        ${banking.apiKey}`,
    `  access token   ${profile.accessToken}`,
  ];
}

/** Commands to be pasted in another terminal, each by itself. */
function commandsOfService(
  url: string,
  credentials: SandboxCredentials,
  clock: 'real' | 'manual',
): readonly string[] {
  const { POSTHORN_BASE_URL, POSTHORN_USERNAME, POSTHORN_PASSWORD } = variablesOf(url, credentials);
  const ofAdministrator = assignments({ POSTHORN_BASE_URL, POSTHORN_USERNAME, POSTHORN_PASSWORD });
  const posthorn = programName();
  // A new file for each sandbox, because --key-file never overwrites one.
  const keyFile = quote(join(tmpdir(), `posthorn-key-${randomUUID()}`));
  const post = `curl -sS -H 'content-type: application/json'`;
  const { token, apiKey } = credentials.banking;
  const authorized = `${post} -H ${quote(`authorization: Bearer ${token}`)} -H ${quote(`x-api-key: ${apiKey}`)}`;
  const address = (path: string): string => quote(`${url}${path}`);
  return [
    `${ofAdministrator} ${posthorn} webhooks create http://127.0.0.1:3000/webhooks --key-file ${keyFile}`,
    `SIGNING_KEY="$(cat ${keyFile})" ${posthorn} listen --port 3000`,
    `${post} -d '{"type":"transfer.succeeded"}' ${address('/sandbox/events')}`,
    ...(clock === 'manual' ? [`${post} -d '{"advanceMs":60000}' ${address('/sandbox/clock')}`] : []),
    `curl -sS ${address('/sandbox/deliveries')}`,
    `${authorized} -d '{"merchantTransID":"MTX-1002"}' ${address(`${paths.eChecks}?${E_CHECKS_QUERY}`)}`,
    `${authorized} -d '{"destination":{"currency":"EUR"},"source":{"amount":"100.00"}}' ${address(paths.fxQuotes)}`,
  ];
}

/** The environment of all commands of the program that reach the sandbox. */
function variablesOf(url: string, { administrator, banking, profile }: SandboxCredentials) {
  return {
    POSTHORN_BASE_URL: url,
    POSTHORN_SANDBOX: url,
    POSTHORN_USERNAME: administrator.username,
    POSTHORN_PASSWORD: administrator.password,
    POSTHORN_BANKING_TOKEN: banking.token,
    POSTHORN_API_KEY: banking.apiKey,
    POSTHORN_ACCESS_TOKEN: profile.accessToken,
  } as const;
}

function assignments(variables: Readonly<Record<string, string>>): string {
  return Object.entries(variables)
    .map(([name, value]) => `${name}=${quote(value)}`)
    .join(' ');
}
