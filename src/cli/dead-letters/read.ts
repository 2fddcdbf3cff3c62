import { isUtf8 } from 'node:buffer';
import type { DeadLetter } from '../../receiver/dead-letters/dead-letters.ts';
import { CommandError } from '../failure.ts';
import { createReadingOutput } from '../output.ts';
import { colours, line, type Printable, TerminalText } from '../terminal-text.ts';
import { findLetter } from './find-by-sender.ts';
import { nextList } from './next-command.ts';
import { printLetters, summaryOf } from './print-letter.ts';
import { isRunning, Selection, type SelectionOptions } from './selection.ts';
import { type SourceOptions, withSource } from './source.ts';
import { printSummary } from './summary.ts';

/** `posthorn dead-letters list` */
export async function list(options: SourceOptions & Omit<SelectionOptions, 'all'>): Promise<void> {
  const output = createReadingOutput(options);
  const selection = new Selection([], options);
  await withSource(options, async (source) => {
    const { count, lastId } = await printLetters(selection.letters(source), output);
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
  const bytes = Buffer.from(letter.rawBody);
  return {
    kind: 'letter',
    ...summaryOf(letter),
    headers: letter.headers,
    rawBody: bytes.toString('base64'),
    ...(isUtf8(bytes) && { body: bytes.toString() }),
  };
}

function linesOf(letter: DeadLetter): readonly Printable[] {
  const fields = Object.entries(summaryOf(letter)).map(([name, value]) => field(name, String(value ?? '?')));
  const headers = Object.entries(letter.headers).map(([name, values]) =>
    field(`  ${name}`, values.join(', ')),
  );
  const bytes = Buffer.from(letter.rawBody);
  const title = `body, ${bytes.byteLength} bytes${isUtf8(bytes) ? '' : ', which are not UTF-8'}`;
  return [
    ...fields,
    ...(isRunning(letter) ? [colours.doubtful('its handlers may still be running')] : []),
    colours.strong('headers'),
    ...headers,
    colours.strong(title),
    TerminalText.paragraph(bytes.toString()),
  ];
}

function field(name: string, value: string): TerminalText {
  return line`${colours.strong(name)} ${value}`;
}
