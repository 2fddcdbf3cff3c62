import type { Command } from 'commander';
import { defineCommand } from '../define-command.ts';
import { EXIT_CODES_HELP } from '../failure.ts';
import { journalPlaces } from '../stores/subjects.ts';
import { selectionOptions } from './journal-selection.ts';
import { journalOptions } from './journal-source.ts';
import { list } from './list.ts';
import { prune, pruneOptions } from './prune.ts';
import { show } from './show.ts';

const WHERE_HELP = `
${journalPlaces.help}
The module exports \`receiver\`, or has it as its default export, and must not start a server. It has the journal by the
option \`journal\` of createReceiver.`;

const LIST_HELP = `
The events are those that receivers got and found authentic, the oldest first. The journal has one within a second after
its answer. If --limit leaves some, the last line is the command that lists them.
${WHERE_HELP}
${EXIT_CODES_HELP}

Examples:
  $ POSTGRES_URL=postgres://127.0.0.1/billing posthorn events list --scope billing-production --since 2h
  $ posthorn events list --scope billing-production --sqlite events.db --type 'transfer.*' --outcome parked
  $ posthorn events list --receiver ./receiver.js --resource TR1 --json`;

const SHOW_HELP = `
The id is that of the sender, or the key of the event. Two senders can give the same id: then the error names the keys.
${WHERE_HELP}
${EXIT_CODES_HELP}

Examples:
  $ posthorn events show evt_1 --scope billing-production --sqlite events.db
  $ posthorn events show evt_1 --receiver ./receiver.js --json | jq -r .rawBody | base64 -d`;

const PRUNE_HELP = `
Deletes entries of the journal whose first delivery is longer ago than --older-than. It asks first, unless you give
--yes. It works in small steps, so receivers go on, and after an interruption the command can be repeated. Ids and dead
letters stay: pruning changes nothing for events that come again.
${WHERE_HELP}
${EXIT_CODES_HELP}

Examples:
  $ posthorn events prune --older-than 90d --scope billing-production --sqlite events.db --dry-run
  $ posthorn events prune --older-than 90d --receiver ./receiver.js --yes`;

/** Adds the commands that read a journal, and the one that prunes it. */
export function addJournalCommands(group: Command): void {
  defineCommand(group, 'list', 'list the events of a journal, one line each', LIST_HELP, [
    ...selectionOptions(),
    ...journalOptions(),
  ]).action(list);
  const description = 'show one event of a journal with its body';
  defineCommand(group, 'show <id>', description, SHOW_HELP, journalOptions()).action(show);
  defineCommand(group, 'prune', 'delete old events from a journal', PRUNE_HELP, [
    ...pruneOptions(),
    ...journalOptions(),
  ]).action(prune);
}
