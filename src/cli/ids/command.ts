import { type Command, Option } from 'commander';
import type { Settings } from '../../receiver/settings.ts';
import { isMemoryStore } from '../../stores/memory/memory.ts';
import { defineCommand } from '../define-command.ts';
import { describeDuration } from '../duration.ts';
import { CommandError, EXIT_CODES_HELP, usageError } from '../failure.ts';
import { readInputInParts } from '../input.ts';
import type { JsonOption } from '../options.ts';
import { createOutput, type Output } from '../output.ts';
import { loadReceiver, requireReceiverSettings } from '../receiver-module.ts';
import { IdImport } from './id-import.ts';
import { readIdList } from './id-list.ts';
import { ListImport } from './list-import.ts';

interface ImportOptions extends JsonOption {
  readonly receiver: string;
  readonly account?: string;
}

const HELP = `
Each line is an id, a tab and the time at which it was recorded: milliseconds since the epoch, or ISO 8601 with a zone.
In an id \\\\ is a backslash, \\t a tab and \\n a line feed, as \`copy\` of PostgreSQL writes them.
An id is completed only if it is older than the last retry of its event and 10 minutes more, 31 minutes by default: the
program before may have died before it handled a younger one. Younger ids are left out, and so are ids that the store
knows or that have a dead letter. The command can be repeated, after an interruption and when the young ids are old enough.
The ids are those of the receiver's provider. A receiver of several accounts needs a list for each, with --account.
The module exports the receiver with the store of the running processes, and must not start a server.
${EXIT_CODES_HELP}

Examples:
  $ posthorn ids import ids.tsv --receiver ./receiver.js
  $ posthorn ids import - --receiver ./receiver.js --json < ids.tsv`;

/** `posthorn ids` */
export function addIds(program: Command): void {
  const group = program.command('ids').description('take over the ids that another program has recorded');
  const description =
    'complete the ids of events that another program has handled, in the store of a receiver';
  defineCommand(group, 'import <file>', description, HELP, [
    new Option(
      '--receiver <module>',
      'a module that exports the receiver, with its store',
    ).makeOptionMandatory(),
    new Option('--account <account>', 'the account of the sender that all ids belong to'),
  ]).action(importIds);
}

async function importIds(file: string, options: ImportOptions): Promise<void> {
  const output = createOutput(options);
  const module = await loadReceiver(options.receiver, output.json);
  const { receiver } = module;
  const settings = requireReceiverSettings(module);
  if (isMemoryStore(settings.store)) {
    throw usageError(
      'the receiver keeps its ids in the memory of its process, where no command can write them',
    );
  }
  const ids = new IdImport(settings, options.account);
  const list = new ListImport(readIdList(readInputInParts(file)), ids);
  await list.run();
  const { counts, failure, invalidLines } = list;
  if (Object.values(counts).every((count) => count === 0)) throw failure?.error ?? emptyList();
  printCounts(output, counts, ids);
  noteKeys(output, settings.provider, ids);
  await receiver.close();
  if (failure !== undefined) throw failure.error;
  if (counts.invalid > 0) throw invalidList(invalidLines, counts.invalid);
}

function printCounts(output: Output, counts: ListImport['counts'], { leastAgeMs }: IdImport): void {
  const { imported, young, known, invalid, left } = counts;
  output.print({ kind: 'summary', ...counts }, () => {
    const parts = [`${imported} imported`, `${young} too young`, `${known} known before`];
    return [...parts, `${invalid} invalid`, ...(left > 0 ? [`${left} left`] : [])].join(', ');
  });
  if (young > 0) {
    const age = describeDuration(leastAgeMs);
    output.note(`an id is too young until it is ${age} old: repeat the command then, with the same file`);
  }
}

/** Says which keys were written, unless they are the ids as they stand. */
function noteKeys(output: Output, { name }: Settings['provider'], ids: IdImport): void {
  const key = ids.keyOf('<id>');
  if (key !== '<id>') output.note(`the ids are those of ${name}; in the store each is ${key}`);
}

function emptyList(): CommandError {
  return new CommandError(
    'failed',
    'the list has no ids: look at the command that made it, and at the prefix or the table that it reads',
  );
}

function invalidList(numbers: readonly number[], count: number): CommandError {
  const more = count > numbers.length ? ' and others' : '';
  return new CommandError(
    'failed',
    'not an id, a tab and a time of 13 digits or of ISO 8601 with a zone, or a backslash that does not begin ' +
      `an escape: line ${numbers.join(', ')}${more}`,
  );
}
