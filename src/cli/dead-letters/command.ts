import { type Command, Option } from 'commander';
import { defineCommand } from '../define-command.ts';
import { EXIT_CODES_HELP } from '../failure.ts';
import { letterPlaces } from '../stores/subjects.ts';
import { drop } from './drop.ts';
import { filterOptions } from './filter-options.ts';
import { list, show } from './read.ts';
import { replay } from './replay.ts';
import { sourceOptions } from './source.ts';

const WHERE_HELP = `
${letterPlaces.help}
The module exports \`receiver\`, or has it as its default export, and must not start a server:

  // receiver.js
  export const receiver = createReceiver({ signingKey, store, deadLetters });
  receiver.on('transfer.succeeded', book, { name: 'book' });

The module of the server, which listens, imports the receiver from there.
The command waits for its connections, to Redis for example, for 5 seconds at most.
Dead letters whose handlers may still be running are skipped, and named with the time until which they may run.`;

const LIST_HELP = `${WHERE_HELP}
${EXIT_CODES_HELP}

Examples:
  $ posthorn dead-letters list --dir dead-letters --since 3d
  $ REDIS_URL=redis://127.0.0.1:6379 posthorn dead-letters list --scope billing-production --type 'transfer.*' --json
  $ posthorn dead-letters list --dir dead-letters --limit 20 --after evt_1`;

const SHOW_HELP = `${WHERE_HELP}
${EXIT_CODES_HELP}

Examples:
  $ posthorn dead-letters show evt_1 --dir dead-letters
  $ posthorn dead-letters show evt_1 --dir dead-letters --json | jq -r .rawBody | base64 -d`;

const PORTION_HELP = `
With --dry-run the dead letters are counted by type and reason; "list" with the same options has a line for each.
A signal ends the command after the current event. If dead letters are left, because of it or of --limit, the last line
is the command that goes on with them. It begins after the last one that stays, because those that fail stay first.`;

const INTERRUPTED_HELP = `
  130, or 128 and the number of another signal: a signal ended the command. A second one ends it at once`;

const REPLAY_HELP = `
A replay runs the handlers that have not finished, with the same dedupe as a delivery, and removes the dead letter when
they succeed. The module must create the receiver with the store of the running processes, or their events may run twice.
Those parked as \`event_too_old\` may be a recording that somebody sent again: they are replayed by their ids only.
${PORTION_HELP}
A second signal ends it at once: the current event then counts as running for maxRunMs, and is skipped until then.
${WHERE_HELP}
${EXIT_CODES_HELP}${INTERRUPTED_HELP}

Examples:
  $ posthorn dead-letters replay evt_1 evt_2 --receiver ./receiver.js
  $ posthorn dead-letters replay --type 'transfer.*' --since 2h --receiver ./receiver.js --dry-run
  $ posthorn dead-letters replay --reason handler_failed --receiver ./receiver.js --dry-run
  $ posthorn dead-letters replay --all --receiver ./receiver.js --limit 100`;

const DROP_HELP = `
Without ids it asks first, unless you give --yes.
With --receiver the event is given up for good: its id is completed in the receiver's store. Otherwise only the
dead letter is removed.
${PORTION_HELP}
${WHERE_HELP}
${EXIT_CODES_HELP}${INTERRUPTED_HELP}

Examples:
  $ posthorn dead-letters drop evt_1 --receiver ./receiver.js
  $ posthorn dead-letters drop --all --dir dead-letters --dry-run
  $ posthorn dead-letters drop --all --dir dead-letters --yes`;

/** `posthorn dead-letters` */
export function addDeadLetters(program: Command): void {
  const group = program.command('dead-letters').description('list, show, replay and drop dead letters');

  const choiceOptions = (): readonly Option[] => [
    new Option('--all', 'every dead letter'),
    new Option('--dry-run', 'count what would be done, by type and reason, without doing it'),
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
    new Option('--yes', 'do not ask before a drop without ids; needed without a terminal'),
  ])
    .argument('[id...]', 'the ids of events')
    .action(drop);
}
