import type { DeadLetter } from '../../receiver/dead-letters/dead-letters.ts';
import { checkCanAsk, confirm } from '../confirm.ts';
import { CommandError, codeOf, lineOf, setFailed } from '../failure.ts';
import { createOutput, type Output } from '../output.ts';
import { Progress } from '../progress.ts';
import { nameOf, senderFields } from './letter-sender.ts';
import { Portion } from './portion.ts';
import {
  checkSelection,
  describeSelection,
  isRunning,
  Selection,
  type SelectionOptions,
} from './selection.ts';
import { type Source, type SourceOptions, withSource } from './source.ts';
import { foresee, printProgress, type Work } from './summary.ts';

export interface DropOptions extends SelectionOptions, SourceOptions {
  readonly dryRun?: boolean;
  readonly yes?: boolean;
}

/** `posthorn dead-letters drop` */
export async function drop(ids: readonly string[], options: DropOptions): Promise<void> {
  const output = createOutput(options);
  checkSelection(ids, options);
  const selection = new Selection(ids, options, { others: true });
  const work: Work = { selection, options, output };
  if (!selection.isByIds && !options.yes && !options.dryRun) await confirmMany(options);
  await withSource(options, (source) =>
    options.dryRun ? foresee(work, 'dropped', source) : dropAll(work, source),
  );
  selection.check();
}

/** Asks before dead letters are dropped that nobody has named. */
async function confirmMany(options: DropOptions): Promise<void> {
  checkCanAsk('drop without ids', 'dead letters');
  const question = `Drop ${describeSelection(options)}? Nobody can replay them afterwards.`;
  if (await confirm(question)) return;
  throw new CommandError('failed', 'nothing was dropped');
}

interface Counts {
  dropped: number;
  failed: number;
  /** The number of dropped dead letters whose ids are not completed, so that a delivery would be handled. */
  uncompleted: number;
}

async function dropAll(work: Work, source: Source): Promise<void> {
  const portion = await Portion.of(work.selection.letters(source));
  const counts: Counts = { dropped: 0, failed: 0, uncompleted: 0 };
  const progress = new Progress();
  try {
    await portion.workThrough(async (id) => {
      progress.show(`dropping ${id}: ${counts.dropped} dropped so far`);
      const dropped = await dropOne(id, source, work.output);
      progress.clear();
      if (dropped === undefined) {
        counts.failed += 1;
        return (await source.deadLetters.get(id)) === undefined;
      }
      counts.dropped += 1;
      if (!dropped.completed) counts.uncompleted += 1;
      const { letter, completed } = dropped;
      const { type } = letter;
      work.output.print(
        { kind: 'drop', id, ...senderFields(letter), type, completed },
        () => `dropped ${type ?? '?'} ${nameOf(letter)}`,
      );
      return true;
    });
  } finally {
    printCounts(work, portion, counts);
  }
}

function printCounts(work: Work, portion: Portion, { dropped, failed, uncompleted }: Counts): void {
  if (failed > 0) setFailed();
  printProgress(work, 'drop', portion, {
    value: { dryRun: false, dropped, failed },
    counts: [
      [dropped, 'dropped'],
      [failed, 'not dropped: handled meanwhile, being handled, or gone'],
    ],
  });
  if (uncompleted > 0) {
    work.output.note(
      'only the dead letters were removed: an event that is delivered again counts as new. --receiver ' +
        'also completes the ids, if the dead letters are those of the receiver',
    );
  }
}

interface Dropped {
  readonly letter: DeadLetter;
  /** True if the id of the event is completed, so that it is not handled when it comes again. */
  readonly completed: boolean;
}

/** Resolves with undefined if the dead letter was not dropped. */
async function dropOne(id: string, source: Source, output: Output): Promise<Dropped | undefined> {
  const letter = await source.deadLetters.get(id);
  if (letter === undefined) return undefined;
  const completed = await isOfReceiver(letter, source);
  const isDropped = await (completed ? dropByReceiver(letter, source, output) : removeOne(letter, source));
  return isDropped ? { letter, completed } : undefined;
}

/** A receiver drops dead letters of its own dead letters only, and completes their ids. */
async function isOfReceiver({ id }: DeadLetter, { receiverLetters }: Source): Promise<boolean> {
  return (await receiverLetters?.get(id)) !== undefined;
}

async function dropByReceiver(
  letter: DeadLetter,
  { receiver, deadLetters }: Source,
  output: Output,
): Promise<boolean> {
  try {
    const isDropped = (await receiver?.drop(letter)) === true;
    if (isDropped) await deadLetters.remove(letter.id);
    return isDropped;
  } catch (error) {
    // This dead letter stays, and the others can still be dropped.
    if (codeOf(error) !== 'provider_mismatch') throw error;
    output.note(lineOf(error));
    return false;
  }
}

async function removeOne(letter: DeadLetter, { deadLetters }: Source): Promise<boolean> {
  return !isRunning(letter) && (await deadLetters.remove(letter.id));
}
