import { type Command, Option } from 'commander';
import { isMemoryStore } from '../../stores/memory/memory.ts';
import { deferSignals } from '../defer-signals.ts';
import { defineCommand } from '../define-command.ts';
import { describeDuration } from '../duration.ts';
import { CommandError, EXIT_CODES_HELP, lineOf, setFailed, usageError } from '../failure.ts';
import { readInput } from '../input.ts';
import type { JsonOption } from '../options.ts';
import { createOutput } from '../output.ts';
import { Progress } from '../progress.ts';
import { loadReceiver } from '../receiver-module.ts';
import { IdImport, type ImportResult } from './id-import.ts';
import { type RecordedId, readIdList } from './id-list.ts';

interface ImportOptions extends JsonOption {
  readonly receiver: string;
}

const HELP = `
Each line is an id, a tab and the time at which it was recorded: milliseconds since the epoch, or ISO 8601 with a zone.
An id is completed only if it is older than the last retry of its event and 10 minutes more, 31 minutes by default: the
program before may have died before it handled a younger one. Younger ids are left out, and so are ids that the store
knows or that have a dead letter. The command can be repeated, after an interruption and when the young ids are old enough.
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
  ]).action(importIds);
}

/** The number of ids that are in work at once. */
const CONCURRENCY = 16;

/** The invalid lines that are named; the others are only counted. */
const MOST_NAMED = 10;

async function importIds(file: string, options: ImportOptions): Promise<void> {
  const output = createOutput(options);
  const { recorded, invalid } = readIdList(await readInput(file));
  if (recorded.length === 0 && invalid.length === 0) {
    throw new CommandError(
      'failed',
      'the list has no ids: look at the command that made it, and at the prefix or the table that it reads',
    );
  }
  const { receiver, settings } = await loadReceiver(options.receiver, output.json);
  if (settings === undefined)
    throw usageError('the receiver is of posthorn 0.2 or earlier: the module must import this version');
  if (isMemoryStore(settings.store)) {
    throw usageError(
      'the receiver keeps its ids in the memory of its process, where no command can write them',
    );
  }
  const ids = new IdImport(settings);
  const counts = { imported: 0, young: 0, known: 0 };
  const failure = await importAll(recorded, ids, counts);
  const { imported, young, known } = counts;
  const left = recorded.length - imported - young - known;
  output.print({ kind: 'summary', imported, young, known, invalid: invalid.length, left }, () => {
    const parts = [`${imported} imported`, `${young} too young`, `${known} known before`];
    return [...parts, `${invalid.length} invalid`, ...(left > 0 ? [`${left} left`] : [])].join(', ');
  });
  if (young > 0) {
    const age = describeDuration(ids.leastAgeMs);
    output.note(`an id is too young until it is ${age} old: repeat the command then, with the same file`);
  }
  await receiver.close();
  if (failure !== undefined) throw failure.error;
  if (invalid.length === 0) return;
  output.note(lineOf(invalidLines(invalid)));
  setFailed();
}

/** Returns the error of the first id that failed. After that, and after a signal, no further one is begun. */
async function importAll(
  recorded: readonly RecordedId[],
  ids: IdImport,
  counts: Record<ImportResult, number>,
): Promise<{ readonly error: unknown } | undefined> {
  const progress = new Progress();
  const rest = recorded.values();
  let failure: { readonly error: unknown } | undefined;
  const work = async (isSignalled: () => boolean): Promise<void> => {
    for (const one of rest) {
      try {
        counts[await ids.take(one)] += 1;
      } catch (error) {
        failure ??= { error };
      }
      progress.show(`${counts.imported} of ${recorded.length} imported so far`);
      if (failure !== undefined || isSignalled()) return;
    }
  };
  await deferSignals({
    reason: 'the current ids are finished first',
    work: (isSignalled) => Promise.all(Array.from({ length: CONCURRENCY }, () => work(isSignalled))),
  });
  progress.clear();
  return failure;
}

function invalidLines(numbers: readonly number[]): CommandError {
  const named = numbers.slice(0, MOST_NAMED).join(', ');
  const more = numbers.length > MOST_NAMED ? ' and others' : '';
  return new CommandError(
    'failed',
    `not an id, a tab and a time of 13 digits or of ISO 8601 with a zone: line ${named}${more}`,
  );
}
