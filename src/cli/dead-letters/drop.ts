import type { DeadLetter } from '../../receiver/dead-letters/dead-letters.ts';
import { confirm } from '../confirm.ts';
import { CommandError, exitCodes, usageError } from '../failure.ts';
import { createOutput } from '../output.ts';
import { Progress } from '../progress.ts';
import { countsOf, LetterPrinter } from './print-letter.ts';
import { isRunning, readSelection, type SelectionOptions } from './selection.ts';
import { type Source, type SourceOptions, withSource } from './source.ts';

export interface DropOptions extends SelectionOptions, SourceOptions {
  readonly dryRun?: boolean;
  readonly yes?: boolean;
}

/** `posthorn dead-letters drop` */
export async function drop(ids: readonly string[], options: DropOptions): Promise<void> {
  const output = createOutput(options);
  const selection = readSelection(ids, options);
  if (options.all && !options.yes && !options.dryRun) await confirmAll();
  await withSource(options, async (source) => {
    const printer = new LetterPrinter(output);
    const progress = new Progress();
    let dropped = 0;
    let uncompleted = 0;
    let failed = 0;
    for await (const letter of selection.letters(source.deadLetters)) {
      if (options.dryRun) {
        dropped += 1;
        printer.add(letter);
        continue;
      }
      progress.show(`dropping ${letter.id}: ${dropped} dropped so far`);
      const { isDropped, completed } = await dropOne(letter, source);
      progress.clear();
      if (isDropped) {
        dropped += 1;
        if (!completed) uncompleted += 1;
        const { id, type } = letter;
        output.print({ kind: 'drop', id, type, completed }, () => `dropped ${type ?? '?'} ${id}`);
      } else failed += 1;
    }
    printer.end();
    if (failed > 0) process.exitCode = exitCodes.failed;
    const { running, missing } = selection;
    output.print(
      { kind: 'summary', dryRun: options.dryRun === true, dropped, failed, running, missing },
      () =>
        countsOf(
          [dropped, options.dryRun ? 'would be dropped' : 'dropped'],
          [failed, 'not dropped: handled meanwhile, being handled, or gone'],
          [running, 'still running'],
          [missing, 'not found'],
        ),
    );
    if (uncompleted > 0) {
      output.note(
        'only the letters were removed: an event that is delivered again counts as new. --receiver ' +
          'also completes the ids, of letters in the dead letters of the receiver',
      );
    }
  });
  selection.check();
}

async function confirmAll(): Promise<void> {
  if (!process.stdin.isTTY) {
    throw usageError('without a terminal to ask on, drop --all needs --yes; --dry-run shows the letters');
  }
  if (await confirm('Drop all letters? Nobody can replay them afterwards.')) return;
  throw new CommandError('failed', 'nothing was dropped');
}

interface Dropped {
  readonly isDropped: boolean;
  /** True if the id is completed too, so that the event is not handled when it is delivered again. */
  readonly completed: boolean;
}

async function dropOne(
  letter: DeadLetter,
  { deadLetters, receiver, receiverLetters }: Source,
): Promise<Dropped> {
  // A receiver drops letters of its own dead letters only.
  if (receiver !== undefined && (await receiverLetters?.get(letter.id)) !== undefined) {
    const isDropped = await receiver.drop(letter);
    if (isDropped) await deadLetters.remove(letter.id);
    return { isDropped, completed: isDropped };
  }
  const current = await deadLetters.get(letter.id);
  const isWaiting = current !== undefined && !isRunning(current);
  return { isDropped: isWaiting && (await deadLetters.remove(letter.id)), completed: false };
}
