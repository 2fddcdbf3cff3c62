import type { DeadLetter } from '../../receiver/dead-letters/dead-letters.ts';
import { confirm } from '../confirm.ts';
import { CommandError, exitCodes, usageError } from '../failure.ts';
import { createOutput, type Output } from '../output.ts';
import { Progress } from '../progress.ts';
import { nextCommand } from './next-command.ts';
import { Overview } from './overview.ts';
import { Portion } from './portion.ts';
import { countsOf, countsOfSkipped } from './print-letter.ts';
import { checkSelection, isRunning, Selection, type SelectionOptions } from './selection.ts';
import { type Source, type SourceOptions, withSource } from './source.ts';

export interface DropOptions extends SelectionOptions, SourceOptions {
  readonly dryRun?: boolean;
  readonly yes?: boolean;
}

/** `posthorn dead-letters drop` */
export async function drop(ids: readonly string[], options: DropOptions): Promise<void> {
  const output = createOutput(options);
  checkSelection(ids, options);
  const selection = new Selection(ids, options);
  if (options.all && !options.yes && !options.dryRun) await confirmAll(options);
  await withSource(options, (source) =>
    options.dryRun ? foresee(selection, source, output) : dropAll(selection, source, options, output),
  );
  selection.check();
}

async function confirmAll({ limit }: DropOptions): Promise<void> {
  if (!process.stdin.isTTY) {
    throw usageError(
      'without a terminal to ask on, drop --all needs --yes; --dry-run counts the dead letters',
    );
  }
  const letters = limit === undefined ? 'all dead letters' : `up to ${limit} dead letters`;
  if (await confirm(`Drop ${letters}? Nobody can replay them afterwards.`)) return;
  throw new CommandError('failed', 'nothing was dropped');
}

async function foresee(selection: Selection, { deadLetters }: Source, output: Output): Promise<void> {
  const overview = await Overview.of(selection.letters(deadLetters), output);
  const { running, missing, left } = selection.skipped;
  const counts = { dropped: overview.count, failed: 0, running, missing, left };
  output.print({ kind: 'summary', dryRun: true, ...counts, ...overview.toValue() }, () => [
    countsOf([overview.count, 'would be dropped'], ...countsOfSkipped(selection.skipped)),
    ...overview.toLines(),
  ]);
}

interface Counts {
  dropped: number;
  failed: number;
  /** The number of dropped letters whose ids are not completed, so that a delivery would be handled. */
  uncompleted: number;
}

async function dropAll(
  selection: Selection,
  source: Source,
  options: DropOptions,
  output: Output,
): Promise<void> {
  const portion = await Portion.of(selection.letters(source.deadLetters));
  const counts: Counts = { dropped: 0, failed: 0, uncompleted: 0 };
  const progress = new Progress();
  try {
    await portion.workThrough(async (id) => {
      progress.show(`dropping ${id}: ${counts.dropped} dropped so far`);
      const dropped = await dropOne(id, source);
      progress.clear();
      if (dropped === undefined) {
        counts.failed += 1;
        return (await source.deadLetters.get(id)) === undefined;
      }
      counts.dropped += 1;
      if (!dropped.completed) counts.uncompleted += 1;
      output.print({ kind: 'drop', id, ...dropped }, () => `dropped ${dropped.type ?? '?'} ${id}`);
      return true;
    });
  } finally {
    printSummary({ selection, portion }, counts, options, output);
  }
}

function printSummary(
  { selection, portion }: { readonly selection: Selection; readonly portion: Portion },
  { dropped, failed, uncompleted }: Counts,
  options: DropOptions,
  output: Output,
): void {
  // A signal has set another one already.
  if (failed > 0) process.exitCode ??= exitCodes.failed;
  const skipped = { ...selection.skipped, left: selection.skipped.left + portion.untried.length };
  const { running, missing, left } = skipped;
  const next = nextCommand('drop', { selection, portion }, options);
  output.print({ kind: 'summary', dryRun: false, dropped, failed, running, missing, left, next }, () => [
    countsOf(
      [dropped, 'dropped'],
      [failed, 'not dropped: handled meanwhile, being handled, or gone'],
      ...countsOfSkipped(skipped),
    ),
    ...(next === undefined ? [] : [`the rest: ${next}`]),
  ]);
  if (uncompleted > 0) {
    output.note(
      'only the dead letters were removed: an event that is delivered again counts as new. --receiver ' +
        'also completes the ids, if the dead letters are those of the receiver',
    );
  }
}

interface Dropped {
  readonly type: string | undefined;
  /** True if the id of the event is completed, so that it is not handled when it comes again. */
  readonly completed: boolean;
}

/** Resolves with undefined if the letter was not dropped. */
async function dropOne(id: string, source: Source): Promise<Dropped | undefined> {
  const letter = await source.deadLetters.get(id);
  if (letter === undefined) return undefined;
  const completed = await isOfReceiver(letter, source);
  const isDropped = await (completed ? dropByReceiver(letter, source) : removeOne(letter, source));
  return isDropped ? { type: letter.type, completed } : undefined;
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

async function removeOne(letter: DeadLetter, { deadLetters }: Source): Promise<boolean> {
  return !isRunning(letter) && (await deadLetters.remove(letter.id));
}
