import type { DeadLetter } from '../../receiver/dead-letters/dead-letters.ts';
import { escapeControls } from '../../receiver/outcomes/escape.ts';
import { colours, joined, type Printable } from '../terminal-text.ts';
import { senderOf } from './letter-sender.ts';

/**
 * A time of a dead letter as ISO 8601, or its number if no Date can hold it: another program may have written
 * the dead letter, and one dead letter must not hide the others.
 */
export function letterTime(ms: number): string {
  const date = new Date(ms);
  return Number.isNaN(date.valueOf()) ? String(ms) : date.toISOString();
}

/** The columns before the reason, by their titles. That of the sender is left out if no row has one. */
const TITLES = ['PARKED', 'TYPE', 'ID', 'SENDER', 'ATTEMPTS'] as const;

/** The least width in which a reason is of use. */
const LEAST_REASON = 20;
const GAP = '  ';

/** A dead letter in the table. Its texts are escaped already, because their width is measured. */
interface Row {
  readonly cells: readonly [parked: string, type: string, id: string, sender: string, attempts: string];
  readonly reason: string;
}

function rowOf(letter: DeadLetter): Row {
  const { id, type = '?', reason, message, parkedAt, attempts } = letter;
  const parked = letterTime(parkedAt).replace(/:\d\d\.\d+Z$/, 'Z');
  return {
    cells: [
      parked,
      escapeControls(type),
      escapeControls(id),
      escapeControls(senderOf(letter)),
      String(attempts),
    ],
    reason: escapeControls(`${reason}: ${message}`),
  };
}

/**
 * The dead letters as a table as wide as the terminal, or as three lines each if the columns do not fit. An
 * id is never cut, because other commands take it.
 */
export function tableOf(letters: readonly DeadLetter[], columns: number): readonly Printable[] {
  const rows = letters.map(rowOf);
  const widths = TITLES.map((title, column) => {
    const widest = Math.max(...rows.map(({ cells }) => cells[column]?.length ?? 0));
    return title === 'SENDER' && widest === 0 ? 0 : Math.max(title.length, widest);
  });
  const used = widths.filter((width) => width > 0);
  const reasonWidth = columns - used.reduce((sum, width) => sum + width + GAP.length, 0);
  if (reasonWidth < LEAST_REASON) return rows.flatMap((row) => blockOf(row, columns));
  const padded = (cells: readonly string[]): readonly string[] =>
    cells.flatMap((cell, column) => {
      const width = widths[column] ?? 0;
      if (width === 0) return [];
      return column === TITLES.indexOf('ATTEMPTS') ? cell.padStart(width) : cell.padEnd(width);
    });
  const lines = rows.map(({ cells, reason }) => {
    const [parked = '', type = '', ...others] = padded(cells);
    const parts = [colours.minor(parked), colours.strong(type), ...others, cutTo(reason, reasonWidth)];
    return joined(parts, GAP);
  });
  return [colours.strong([...padded(TITLES), 'REASON'].join(GAP)), ...lines];
}

function blockOf({ cells: [parked, type, id, sender, attempts], reason }: Row, columns: number): Printable[] {
  const of = sender === '' ? '' : ` of ${sender}`;
  const lines = [`  ${type}${of}, attempts: ${attempts}, parked ${parked}`, `  ${reason}`];
  return [colours.strong(id), ...lines.map((line) => cutTo(line, columns))];
}

function cutTo(text: string, width: number): string {
  return text.length <= width ? text : `${text.slice(0, width - 1)}…`;
}
