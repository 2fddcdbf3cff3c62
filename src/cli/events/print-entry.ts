import type { JournalEntry } from '../../receiver/journal/journal.ts';
import { keyOfRecord } from '../../receiver/journal/record.ts';
import { plural } from '../counts.ts';
import type { ListForm } from '../print-list.ts';
import type { Row } from '../table.ts';
import { colours, line, type TerminalText } from '../terminal-text.ts';
import { minuteText, timeText } from '../time-text.ts';

/** An entry without its body and its headers. */
export function summaryOf(entry: JournalEntry): object {
  const { createdAt, firstReceivedAt, lastReceivedAt, rawBody, headers, ...others } = entry;
  const { id, key, type, provider, account, ...end } = others;
  return Object.fromEntries(
    Object.entries({
      ...{ id, key, type, provider, account },
      createdAt: createdAt === undefined ? undefined : timeText(createdAt),
      firstReceivedAt: timeText(firstReceivedAt),
      lastReceivedAt: timeText(lastReceivedAt),
      ...end,
    }).filter(([, value]) => value !== undefined),
  );
}

/** An entry on one line of JSON. */
export function valueOfEntry(entry: JournalEntry): object {
  return { kind: 'event', ...summaryOf(entry) };
}

/** The list of entries. */
export const entryForm: ListForm<JournalEntry> = {
  idOf: keyOfRecord,
  toValue: valueOfEntry,
  toLine: lineOfEntry,
  columns: [
    { title: 'FIRST RECEIVED' },
    { title: 'TYPE' },
    { title: 'ID' },
    { title: 'SENDER', isOptional: true },
    { title: 'DELIVERIES', isNumber: true },
    { title: 'ATTEMPTS', isNumber: true },
  ],
  lastTitle: 'OUTCOME',
  toRow: rowOf,
};

function lineOfEntry(entry: JournalEntry): TerminalText {
  const { id, type = '?', firstReceivedAt, deliveries, attempts } = entry;
  const when = colours.minor(timeText(firstReceivedAt));
  const sender = senderOf(entry);
  const name = sender === '' ? id : `${id} (${sender})`;
  const counts = `${plural(deliveries, 'delivery', 'deliveries')}, ${plural(attempts, 'attempt')}`;
  return line`${when} ${colours.strong(type)} ${name} ${counts}, ${outcomeOf(entry)}`;
}

function rowOf(entry: JournalEntry): Row {
  const { id, type = '?', deliveries, attempts } = entry;
  const [received, sender, outcome] = [minuteText(entry.firstReceivedAt), senderOf(entry), outcomeOf(entry)];
  const of = sender === '' ? '' : ` of ${sender}`;
  const counts = `deliveries: ${deliveries}, attempts: ${attempts}`;
  return {
    cells: [received, type, id, sender, String(deliveries), String(attempts)],
    last: outcome,
    block: { title: id, lines: [`${type}${of}, first received ${received}`, `${outcome}, ${counts}`] },
  };
}

/** The sender of an event whose id alone does not name it. */
function senderOf({ key, provider, account }: JournalEntry): string {
  return key === undefined ? '' : [provider, account].filter((part) => part !== undefined).join(' ');
}

function outcomeOf({ outcome, code }: JournalEntry): string {
  return code === undefined ? outcome : `${outcome}: ${code}`;
}
