import { type Command, InvalidArgumentError, Option } from 'commander';
import { defineCommand } from '../define-command.ts';
import { readDuration } from '../duration.ts';
import { EXIT_CODES_HELP } from '../failure.ts';
import { settingOptions } from '../settings.ts';
import { create, ensure, setEnabled, update } from './change.ts';
import { connectionSettings } from './connection.ts';
import { list, show } from './read.ts';
import { rotate } from './rotate.ts';
import { wantedOptions } from './wanted.ts';

const KEY_HELP = `
The signing key of a new webhook is shown only once. --key-file writes it, instead of printing it, to a new file that
only its owner can read. An existing file is never overwritten.
`;

const WANTED_HELP = `
Without --event a new webhook gets every event. transfer.* is sent as the types of today: only * includes later ones,
and --any lets --event name one, as payout.created. --provider names a module whose default export, or export
\`provider\`, is the provider of the receiver: --event then knows the types of bankingService({ catalog }).
Credentials are changed only if asked for: --authentication basic takes BASIC_USERNAME and BASIC_PASSWORD from the
environment, bearer takes BEARER_TOKEN, none removes them.
`;

const ROTATE_HELP = `
In two steps, so that no event is lost:
  1. rotate ID creates a second webhook like the first, disabled, and gives its id and its signing key.
     Then make every receiver accept both keys: createReceiver({ signingKey: [newKey, oldKey] }).
  2. rotate ID --resume NEWID, with the key in NEW_SIGNING_KEY or --key-file, enables the second and disables the first.
The first step can be repeated: it disables what an earlier one has left. The second can be repeated with the same ids.
Pending retries of the first webhook may be dropped with it: --overlap 22m lets both webhooks send for that time.
`;

/** `posthorn webhooks` */
export function addWebhooks(program: Command): void {
  const group = program.command('webhooks').description("manage the service's webhooks");
  const showCredentials = (): Option => new Option('--show-credentials', 'do not mask passwords and tokens');
  add(group, 'list', 'list the webhooks, one line each', '', showCredentials()).action(list);
  add(group, 'show <id>', 'show one webhook', '', showCredentials()).action(show);
  addCreateAndUpdate(group);
  add(group, 'enable <id>', 'let a webhook send', '').action(setEnabled(true));
  add(group, 'disable <id>', 'keep a webhook from sending', '').action(setEnabled(false));
  add(
    group,
    'ensure <url>',
    'bring a webhook into the wanted form; create it if there is none',
    `${KEY_HELP}${WANTED_HELP}`,
    ...wantedOptions(),
    new Option('--id <id>', 'the id of the webhook; by default the webhook with the url'),
    new Option('--enable', 'enable it if it is disabled'),
    new Option('--disable', 'disable it if it is enabled'),
    new Option(
      '--force',
      'send --enable or --disable even if nothing changes: a webhook given up may still say enabled',
    ),
    keyFileOption('write the signing key of a new webhook to this file'),
  ).action(ensure);
  add(
    group,
    'rotate <id>',
    'introduce a new signing key',
    ROTATE_HELP,
    new Option('--resume <new-id>', 'the second step: every receiver accepts both keys'),
    keyFileOption('where the new key is written, and read in the second step'),
    new Option('--overlap <duration>', 'how long both send in the second step, as 22m').argParser(
      parseOverlap,
    ),
  ).action(rotate);
}

function addCreateAndUpdate(group: Command): void {
  add(
    group,
    'create <url>',
    'create a webhook, and give its signing key',
    `${KEY_HELP}${WANTED_HELP}`,
    ...wantedOptions(),
    keyFileOption('write the signing key to this new file'),
  ).action(create);
  add(
    group,
    'update <id>',
    'change a webhook; anything not mentioned stays',
    WANTED_HELP,
    ...wantedOptions(),
    new Option('--url <url>', 'another address'),
  ).action(update);
}

function add(
  group: Command,
  usage: string,
  description: string,
  help: string,
  ...options: readonly Option[]
): Command {
  const text = `${help}${EXIT_CODES_HELP}\n\nExamples:\n${examplesOf(usage)}`;
  return defineCommand(group, usage, description, text, [
    ...settingOptions(...connectionSettings),
    ...options,
  ]);
}

function keyFileOption(description: string): Option {
  return new Option('--key-file <file>', description);
}

function parseOverlap(text: string): number {
  const ms = readDuration(text);
  if (ms !== undefined) return ms;
  throw new InvalidArgumentError('It must be a duration such as 30s or 22m.');
}

/** All examples take POSTHORN_BASE_URL, POSTHORN_USERNAME and POSTHORN_PASSWORD from the environment. */
function examplesOf(usage: string): string {
  const [name = ''] = usage.split(' ');
  return (examples[name] ?? []).map((example) => `  $ ${example}`).join('\n');
}

const examples: Readonly<Record<string, readonly string[]>> = {
  list: [
    'export POSTHORN_BASE_URL=https://api.example.com POSTHORN_USERNAME=… POSTHORN_PASSWORD=…',
    'posthorn webhooks list --json | jq -r .url',
  ],
  show: ['posthorn webhooks show WH1 --show-credentials'],
  create: [
    "posthorn webhooks create https://example.com/webhooks --event 'transfer.*' --event dispute.created",
    'BEARER_TOKEN=… posthorn webhooks create https://example.com/webhooks --authentication bearer ' +
      '--key-file key',
  ],
  update: [
    "posthorn webhooks update WH1 --event '*'",
    'BASIC_USERNAME=… BASIC_PASSWORD=… posthorn webhooks update WH1 --authentication basic',
  ],
  enable: ['posthorn webhooks enable WH1'],
  disable: ['posthorn webhooks disable WH1'],
  ensure: [
    "posthorn webhooks ensure https://example.com/webhooks --event 'transfer.*' --enable --key-file key",
  ],
  rotate: [
    'posthorn webhooks rotate WH1 --key-file new-key',
    'posthorn webhooks rotate WH1 --resume WH2 --key-file new-key --overlap 22m',
  ],
};
