import type { Command } from 'commander';
import { EXIT_CODES_HELP } from '../failure.ts';
import { jsonOption } from '../options.ts';
import { PLACES_HELP } from '../stores/letters-options.ts';
import { drop } from './drop.ts';
import { list } from './list.ts';
import { replay } from './replay.ts';
import { addFilterOptions } from './selection.ts';
import { show } from './show.ts';
import { addStorageOptions, receiverOption } from './source.ts';

const WHERE_HELP = `
${PLACES_HELP}
The module exports \`receiver\`, or has it as its default export, and must not start a server:

  // receiver.js
  export const receiver = createReceiver({ signingKey, store, deadLetters });
  receiver.on('transfer.succeeded', book, { name: 'book' });

The module of the server, which listens, imports the receiver from there.
The command waits for its connections, to Redis for example, for 5 seconds at most.
Letters whose handlers may still be running are skipped and counted.`;

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
A replay runs the handlers that have not finished, with the same dedupe as a delivery, and removes the letter when they
succeed. The module must create the receiver with the store of the running processes, or their events may run twice.
Letters parked as \`event_too_old\` may be a recording that somebody sent again: they are replayed by their ids only.
${WHERE_HELP}
${EXIT_CODES_HELP}

Examples:
  $ posthorn dead-letters replay evt_1 evt_2 --receiver ./receiver.js
  $ posthorn dead-letters replay --type 'transfer.*' --since 2h --receiver ./receiver.js --dry-run`;

const DROP_HELP = `
With --receiver the event is given up for good: its id is completed in the receiver's store. Otherwise only the letter
is removed.
${WHERE_HELP}
${EXIT_CODES_HELP}

Examples:
  $ posthorn dead-letters drop evt_1 --receiver ./receiver.js
  $ posthorn dead-letters drop --all --dir dead-letters --dry-run
  $ posthorn dead-letters drop --all --dir dead-letters --yes`;

/** `posthorn dead-letters` */
export function addDeadLetters(program: Command): void {
  const group = program.command('dead-letters').description('list, show, replay and drop parked events');

  const listing = group.command('list').description('list the letters, one line each');
  listing.option('--all', 'every letter, which is the default');
  addStorageOptions(addFilterOptions(listing)).addOption(receiverOption());
  listing.addOption(jsonOption()).addHelpText('after', LIST_HELP).action(list);

  const showing = group.command('show').description('show one letter with its body').argument('<id>');
  addStorageOptions(showing).addOption(receiverOption());
  showing.addOption(jsonOption()).addHelpText('after', SHOW_HELP).action(show);

  const replaying = group.command('replay').description('run the handlers of parked events again');
  addStorageOptions(addFilterOptions(addChoice(replaying))).addOption(receiverOption().makeOptionMandatory());
  replaying.addOption(jsonOption()).addHelpText('after', REPLAY_HELP).action(replay);

  const dropping = group.command('drop').description('give parked events up');
  addStorageOptions(addFilterOptions(addChoice(dropping))).addOption(receiverOption());
  dropping.option('--yes', 'do not ask before --all; needed without a terminal');
  dropping.addOption(jsonOption()).addHelpText('after', DROP_HELP).action(drop);
}

function addChoice(command: Command): Command {
  return command
    .argument('[id...]', 'the ids of events')
    .option('--all', 'every letter')
    .option('--dry-run', 'say what would be done, without doing it');
}
