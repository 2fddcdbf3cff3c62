import { createReadingOutput } from '../output.ts';
import { countsOf, LetterPrinter } from './print-letter.ts';
import { Selection, type SelectionOptions } from './selection.ts';
import { type SourceOptions, withSource } from './source.ts';

/** `posthorn dead-letters list` */
export async function list(options: SourceOptions & Omit<SelectionOptions, 'all'>): Promise<void> {
  const output = createReadingOutput(options);
  const selection = new Selection([], options);
  await withSource(options, async ({ deadLetters }) => {
    const printer = new LetterPrinter(output);
    let letters = 0;
    for await (const letter of selection.letters(deadLetters)) {
      letters += 1;
      printer.add(letter);
    }
    printer.end();
    const { running } = selection;
    output.print({ kind: 'summary', letters, running }, () =>
      countsOf([letters, 'parked'], [running, 'still running']),
    );
  });
  selection.check();
}
