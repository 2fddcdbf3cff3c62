import { type Command, InvalidArgumentError, Option } from 'commander';
import { defineCommand } from '../define-command.ts';
import { EXIT_CODES_HELP } from '../failure.ts';
import { parseCount } from '../options.ts';
import { typeOption } from '../type-option.ts';
import { accept } from './accept.ts';
import { addJournalCommands } from './journal-commands.ts';
import { filterOptions } from './journal-selection.ts';
import { rerun } from './rerun.ts';

const ACCEPT_HELP = `
Each line of the file is an event as JSON, as the sender's API or export has it. If the sender names events in headers,
or does not say when they were created, a line is an object with these members only:

  {"event":{…},"headers":{"x-github-delivery":"…"},"createdAtMs":1774947600000,"account":"acct_1"}

\`event\` is an object, or a text, in which numbers keep all their digits; the other members may be left out. The events take the way of a delivery, without a
signature, and run in the order of the file. What the receiver has handled is passed over, so the command can be
repeated, also after an interruption. What its handlers fail is parked, if it has dead letters, and then left to a replay.
The whole file is checked first, and the counts are printed: nothing is claimed. Then the command asks.
An event that is older than the store remembers may have been handled and forgotten: it needs --allow-forgotten.
The module exports the receiver with its handlers and the store of the running processes, and must not start a server.
A signal ends the command after the current events, and a second one at once.
${EXIT_CODES_HELP}
  130, or 128 and the number of another signal: a signal ended the command
It is 1 if an event was parked, failed, unreadable or too old, or is running elsewhere.

Examples:
  $ posthorn events accept events.jsonl --receiver ./receiver.js --dry-run
  $ posthorn events accept events.jsonl --receiver ./receiver.js --type 'transfer.*' --limit 100
  $ posthorn events accept events.jsonl --receiver ./receiver.js --concurrency 8 --yes --json`;

const RERUN_HELP = `
After a mended bug: the handler runs once more for events that it has finished, by the journal of the receiver. Other
handlers do not run, and the events stay handled. What has not finished is left to a retry, or to the replay of its dead
letter. --run names what is done: under one name the handler runs once for each event, so the command can be repeated,
also after an interruption, and passes over what is done. The store remembers it for its retention, an inbox for good.
All events are checked first, and the counts are printed: nothing is claimed. Then the command asks. They run in the
order in which they were first received; those that come after the check are not run. If handlers fail, the same command
tries them again.
The module exports the receiver with its handlers, its journal and the store of the running processes, and must not
start a server. A signal ends the command after the current events, and a second one at once.
${EXIT_CODES_HELP}
  130, or 128 and the number of another signal: a signal ended the command
It is 1 if a handler failed, if an event has no body, is refused, or is running elsewhere after all, and if the handler
has not finished an event whose id was given.

Examples:
  $ posthorn events rerun --handler book --type 'transfer.*' --since 2026-11-26 --run fix-1127 --receiver ./receiver.js --dry-run
  $ posthorn events rerun --handler book --all --run fix-1127 --receiver ./receiver.js --limit 100
  $ posthorn events rerun evt_1 evt_2 --handler book --run fix-1127 --reason 'wrong amounts' --receiver ./receiver.js --yes`;

const MOST_AT_ONCE = 64;

function parseConcurrency(text: string): number {
  const count = Number(text);
  if (/^[1-9]\d?$/.test(text) && count <= MOST_AT_ONCE) return count;
  throw new InvalidArgumentError(`It must be a whole number from 1 to ${MOST_AT_ONCE}.`);
}

/** `posthorn events` */
export function addEvents(program: Command): void {
  const group = program
    .command('events')
    .description('list, show, prune and run again the events of a journal, and accept missed ones');
  addJournalCommands(group);

  defineCommand(group, 'accept <file>', 'handle the events of a file, one on each line', ACCEPT_HELP, [
    new Option(
      '--receiver <module>',
      'a module that exports the receiver, with its store and handlers',
    ).makeOptionMandatory(),
    new Option('--dry-run', 'count what would be done, without doing it'),
    typeOption(),
    ...runOptions(),
    new Option('--bail', 'end after the first event that was not handled, though it could be read'),
    new Option('--account <account>', 'the account of the sender that all events belong to'),
    new Option('--allow-forgotten', 'also events that the store may have handled and forgotten'),
    new Option('--yes', 'do not ask; needed without a terminal'),
  ]).action(accept);

  defineCommand(group, 'rerun', 'run a handler of handled events once more', RERUN_HELP, [
    new Option(
      '--receiver <module>',
      'a module that exports the receiver, with its journal, store and handlers',
    ).makeOptionMandatory(),
    new Option('--handler <name>', 'the handler that runs').makeOptionMandatory(),
    new Option('--run <name>', 'names what is done, such as fix-1127: under one name each event runs once'),
    new Option('--reason <text>', 'why, for the handler and for observers'),
    new Option('--all', 'every event of the journal'),
    ...filterOptions(),
    new Option('--dry-run', 'count what would be done, without doing it'),
    ...runOptions(),
    new Option('--bail', 'end after the first event that was not handled'),
    new Option('--yes', 'do not ask; needed without a terminal'),
  ])
    .argument('[id...]', 'the ids of events, or their keys')
    .action(rerun);
}

/** The options that say how many events run. */
function runOptions(): readonly Option[] {
  return [
    new Option('--concurrency <number>', `the number of events at once, at most ${MOST_AT_ONCE}`)
      .default(1)
      .argParser(parseConcurrency),
    new Option('--limit <number>', 'only the first so many events that would run').argParser(parseCount),
  ];
}
