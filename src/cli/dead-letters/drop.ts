import type { DeadLetter } from '../../receiver/dead-letters/dead-letters.ts';
import { confirm } from '../confirm.ts';
import { CommandError, exitCodes, usageError } from '../failure.ts';
import { createOutput, type Output } from '../output.ts';
import { Progress } from '../progress.ts';
import { countsOf, printLetters } from './print-letter.ts';
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
    const letters = selection.letters(source.deadLetters);
    const { dropped, failed, uncompleted } = options.dryRun
      ? { dropped: await printLetters(letters, output), failed: 0, uncompleted: 0 }
      : await dropAll(letters, source, output);
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
        'only the dead letters were removed: an event that is delivered again counts as new. --receiver ' +
          'also completes the ids, if the dead letters are those of the receiver',
      );
    }
  });
  selection.check();
}

async function confirmAll(): Promise<void> {
  if (!process.stdin.isTTY) {
    throw usageError(
      'without a terminal to ask on, drop --all needs --yes; --dry-run shows the dead letters',
    );
  }
  if (await confirm('Drop all dead letters? Nobody can replay them afterwards.')) return;
  throw new CommandError('failed', 'nothing was dropped');
}

interface Dropped {
  readonly dropped: number;
  readonly failed: number;
  /** The number of dropped letters whose ids are not completed, so that a delivery would be handled. */
  readonly uncompleted: number;
}

async function dropAll(letters: AsyncIterable<DeadLetter>, source: Source, output: Output): Promise<Dropped> {
  const progress = new Progress();
  const counts = { dropped: 0, failed: 0, uncompleted: 0 };
  for await (const letter of letters) {
    const { id, type } = letter;
    progress.show(`dropping ${id}: ${counts.dropped} dropped so far`);
    const completed = await isOfReceiver(letter, source);
    const isDropped = await (completed ? dropByReceiver(letter, source) : removeOne(letter, source));
    progress.clear();
    if (!isDropped) {
      counts.failed += 1;
      continue;
    }
    counts.dropped += 1;
    if (!completed) counts.uncompleted += 1;
    output.print({ kind: 'drop', id, type, completed }, () => `dropped ${type ?? '?'} ${id}`);
  }
  return counts;
}

/** A receiver drops letters of its own dead letters only, and completes their ids. */
async function isOfReceiver({ id }: DeadLetter, { receiverLetters }: Source): Promise<boolean> {
  return (await receiverLetters?.get(id)) !== undefined;
}

async function dropByReceiver(letter: DeadLetter, { receiver, deadLetters }: Source): Promise<boolean> {
  const isDropped = (await receiver?.drop(letter)) === true;
  if (isDropped) await deadLetters.remove(letter.id);
  return isDropped;
}

async function removeOne({ id }: DeadLetter, { deadLetters }: Source): Promise<boolean> {
  const current = await deadLetters.get(id);
  return current !== undefined && !isRunning(current) && (await deadLetters.remove(id));
}
