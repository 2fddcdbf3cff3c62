import type { JournalEntry } from '../../receiver/journal/journal.ts';
import { CommandError } from '../failure.ts';
import { createReadingOutput } from '../output.ts';
import { linesOfBody, linesOfFields, valueOfBody } from '../stored-body.ts';
import { colours, type Printable } from '../terminal-text.ts';
import { type JournalOptions, withJournal } from './journal-source.ts';
import { summaryOf, valueOfEntry } from './print-entry.ts';

/** `posthorn events show` */
export async function show(id: string, options: JournalOptions): Promise<void> {
  const output = createReadingOutput(options);
  await withJournal(options, async ({ journal }) => {
    const entry = await journal.get(id);
    if (entry === undefined)
      throw new CommandError('failed', `the journal has no event with the id ${JSON.stringify(id)}`);
    output.print(toValue(entry), () => linesOf(entry));
  });
}

function toValue(entry: JournalEntry): object {
  const { rawBody, headers = {} } = entry;
  return { ...valueOfEntry(entry), ...(rawBody !== undefined && valueOfBody({ rawBody, headers })) };
}

function linesOf(entry: JournalEntry): readonly Printable[] {
  const { rawBody, headers = {} } = entry;
  const body =
    rawBody === undefined ? [colours.minor('its body is not kept')] : linesOfBody({ rawBody, headers });
  return [...linesOfFields(summaryOf(entry)), ...body];
}
