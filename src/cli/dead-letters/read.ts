import type { DeadLetter } from '../../receiver/dead-letters/dead-letters.ts';
import { CommandError } from '../failure.ts';
import { createReadingOutput } from '../output.ts';
import { printList } from '../print-list.ts';
import { linesOfBody, linesOfFields, valueOfBody } from '../stored-body.ts';
import { colours, type Printable } from '../terminal-text.ts';
import { findLetter } from './find-by-sender.ts';
import { nextList } from './next-command.ts';
import { letterForm, summaryOf, valueOfLetter } from './print-letter.ts';
import { isRunning, Selection, type SelectionOptions } from './selection.ts';
import { type SourceOptions, withSource } from './source.ts';
import { printSummary } from './summary.ts';

/** `posthorn dead-letters list` */
export async function list(options: SourceOptions & Omit<SelectionOptions, 'all'>): Promise<void> {
  const output = createReadingOutput(options);
  const selection = new Selection([], options);
  await withSource(options, async (source) => {
    const { count, lastId } = await printList(selection.letters(source), letterForm, output);
    const next = selection.skipped.more && lastId !== undefined ? nextList(lastId, options) : undefined;
    const work = { selection, options, output };
    printSummary(work, { value: { letters: count }, counts: [[count, 'parked']], next });
  });
  selection.check();
}

/** `posthorn dead-letters show` */
export async function show(id: string, options: SourceOptions): Promise<void> {
  const output = createReadingOutput(options);
  await withSource(options, async ({ deadLetters }) => {
    const letter = await findLetter(deadLetters, id);
    if (letter === undefined)
      throw new CommandError('failed', `no dead letter has the id ${JSON.stringify(id)}`);
    output.print(toValue(letter), () => linesOf(letter));
  });
}

function toValue(letter: DeadLetter): object {
  return { ...valueOfLetter(letter), ...valueOfBody(letter) };
}

function linesOf(letter: DeadLetter): readonly Printable[] {
  return [
    ...linesOfFields(summaryOf(letter)),
    ...(isRunning(letter) ? [colours.doubtful('its handlers may still be running')] : []),
    ...linesOfBody(letter),
  ];
}
