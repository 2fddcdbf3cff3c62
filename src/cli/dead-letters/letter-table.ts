import type { DeadLetter } from '../../receiver/dead-letters/dead-letters.ts';
import { escapeControls } from '../../receiver/outcomes/escape.ts';
import { colours, joined, type Printable } from '../terminal-text.ts';
import { letterTime } from './letter-time.ts';

/** The columns of a letter in a table. They are escaped already, because their width is measured. */
export interface LetterRow {
  readonly parked: string;
  readonly type: string;
  readonly id: string;
  readonly attempts: string;
  readonly reason: string;
}

export function rowOf({ id, type = '?', reason, message, parkedAt, attempts }: DeadLetter): LetterRow {
  return {
    parked: letterTime(parkedAt).replace(/:\d\d\.\d+Z$/, 'Z'),
    type: escapeControls(type),
    id: escapeControls(id),
    attempts: String(attempts),
    reason: escapeControls(`${reason}: ${message}`),
  };
}

const titles: LetterRow = {
  parked: 'PARKED',
  type: 'TYPE',
  id: 'ID',
  attempts: 'ATTEMPTS',
  reason: 'REASON',
};

/** The least width in which a reason is of use. */
const LEAST_REASON = 20;
const GAP = '  ';

/**
 * The letters as a table as wide as the terminal, or as three lines each if the columns do not fit. An id is
 * never cut, because other commands take it.
 */
export function tableOf(rows: readonly LetterRow[], columns: number): readonly Printable[] {
  const widthOf = (name: keyof LetterRow): number =>
    Math.max(...[titles, ...rows].map((row) => row[name].length));
  const widths = {
    parked: widthOf('parked'),
    type: widthOf('type'),
    id: widthOf('id'),
    attempts: widthOf('attempts'),
  };
  const reasonWidth = columns - Object.values(widths).reduce((sum, width) => sum + width + GAP.length, 0);
  if (reasonWidth < LEAST_REASON) return rows.flatMap((row) => blockOf(row, columns));
  const lineOf = ({ parked, type, id, attempts, reason }: LetterRow): readonly string[] => [
    parked.padEnd(widths.parked),
    type.padEnd(widths.type),
    id.padEnd(widths.id),
    attempts.padStart(widths.attempts),
    cutTo(reason, reasonWidth),
  ];
  const lines = rows
    .map(lineOf)
    .map(([parked = '', type = '', ...others]) =>
      joined([colours.minor(parked), colours.strong(type), ...others], GAP),
    );
  return [colours.strong(lineOf(titles).join(GAP)), ...lines];
}

function blockOf({ parked, type, id, attempts, reason }: LetterRow, columns: number): Printable[] {
  const lines = [`  ${type}, attempts: ${attempts}, parked ${parked}`, `  ${reason}`];
  return [colours.strong(id), ...lines.map((line) => cutTo(line, columns))];
}

function cutTo(text: string, width: number): string {
  return text.length <= width ? text : `${text.slice(0, width - 1)}…`;
}
