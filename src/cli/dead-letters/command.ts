import { type Command, Option } from 'commander';
import { defineCommand } from '../define-command.ts';
import { EXIT_CODES_HELP } from '../failure.ts';
import { PLACES_HELP } from '../stores/place-options.ts';
import { drop } from './drop.ts';
import { list, show } from './read.ts';
import { replay } from './replay.ts';
import { filterOptions } from './selection.ts';
import { sourceOptions } from './source.ts';

const WHERE_HELP = `
${PLACES_HELP}
The module exports \`receiver\`, or has it as its default export, and must not start a server:

  // receiver.js
  export const receiver = createReceiver({ signingKey, store, deadLetters });
  receiver.on('transfer.succeeded', book, { name: 'book' });

The module of the server, which listens, imports the receiver from there.
The command waits for its connections, to Redis for example, for 5 seconds at most.
Dead letters whose handlers may still be running are skipped and counted.`;

const LIST_HELP = `${WHERE_HELP}
${EXIT_CODES_HELP}

Examples:
  $ posthorn dead-letters list --dir dead-letters --since 3d
  $ REDIS_URL=redis://127.0.0.1:6379 posthorn dead-letters list --scope billing-production --type 'transfer.*' --json`;

const SHOW_HELP = `${WHERE_HELP}
${EXIT_CODES_HELP}

Examples:
  $ posthorn dead-letters show evt_1 --dir dead-letters
  $ posthorn dead-letters show evt_1 --dir dead-letters --json | jq -r .rawBody | base64 -d`;

const REPLAY_HELP = `
A replay runs the handlers that have not finished, with the same dedupe as a delivery, and removes the dead letter when
they succeed. The module must create the receiver with the store of the running processes, or their events may run twice.
Those parked as \`event_too_old\` may be a recording that somebody sent again: they are replayed by their ids only.
${WHERE_HELP}
${EXIT_CODES_HELP}

Examples:
  $ posthorn dead-letters replay evt_1 evt_2 --receiver ./receiver.js
  $ posthorn dead-letters replay --type 'transfer.*' --since 2h --receiver ./receiver.js --dry-run`;

const DROP_HELP = `
With --receiver the event is given up for good: its id is completed in the receiver's store. Otherwise only the
dead letter is removed.
${WHERE_HELP}
${EXIT_CODES_HELP}

Examples:
  $ posthorn dead-letters drop evt_1 --receiver ./receiver.js
  $ posthorn dead-letters drop --all --dir dead-letters --dry-run
  $ posthorn dead-letters drop --all --dir dead-letters --yes`;

/** `posthorn dead-letters` */
export function addDeadLetters(program: Command): void {
  const group = program.command('dead-letters').description('list, show, replay and drop dead letters');

  const choiceOptions = (): readonly Option[] => [
    new Option('--all', 'every dead letter'),
    new Option('--dry-run', 'say what would be done, without doing it'),
    ...filterOptions(),
  ];

  defineCommand(group, 'list', 'list the dead letters, one line each', LIST_HELP, [
    new Option('--all', 'every dead letter, which is the default'),
    ...filterOptions(),
    ...sourceOptions(),
  ]).action(list);
  defineCommand(group, 'show <id>', 'show one dead letter with its body', SHOW_HELP, sourceOptions()).action(
    show,
  );
  defineCommand(group, 'replay', 'run the handlers of dead letters again', REPLAY_HELP, [
    ...choiceOptions(),
    ...sourceOptions(true),
  ])
    .argument('[id...]', 'the ids of events')
    .action(replay);
  defineCommand(group, 'drop', 'give dead letters up', DROP_HELP, [
    ...choiceOptions(),
    ...sourceOptions(),
    new Option('--yes', 'do not ask before --all; needed without a terminal'),
  ])
    .argument('[id...]', 'the ids of events')
    .action(drop);
}
