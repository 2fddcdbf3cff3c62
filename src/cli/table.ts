import { escapeControls } from '../receiver/outcomes/escape.ts';
import { colours, joined, type Printable } from './terminal-text.ts';

/** A column before the last one. */
interface Column {
  readonly title: string;
  readonly isNumber?: boolean;
  /** True to leave the column out if no row has a text in it. */
  readonly isOptional?: boolean;
}

/** The columns of a table: a time, a type and others. */
export interface TableForm {
  readonly columns: readonly Column[];
  readonly lastTitle: string;
  /** The least width in which the last column is of use. By default no cell of it is cut. */
  readonly leastWidth?: number;
}

export interface Row {
  readonly cells: readonly string[];
  readonly last: string;
  /** The row in a terminal that is too narrow for a table: what other commands take, and lines below it. */
  readonly block: { readonly title: string; readonly lines: readonly string[] };
}

const GAP = '  ';

/**
 * Rows as a table as wide as the terminal, or as several lines each if the columns do not fit. Only the last
 * column is cut: other commands take the ids.
 */
export function tableOf(given: readonly Row[], form: TableForm, width: number): readonly Printable[] {
  // Escaped, because their widths are measured.
  const rows = given.map(escaped);
  const widths = form.columns.map(({ title, isOptional = false }, column) => {
    const widest = Math.max(...rows.map(({ cells }) => cells[column]?.length ?? 0));
    return isOptional && widest === 0 ? 0 : Math.max(title.length, widest);
  });
  const used = widths.filter((each) => each > 0);
  const lastWidth = width - used.reduce((sum, each) => sum + each + GAP.length, 0);
  const { leastWidth = Math.max(...rows.map(({ last }) => last.length)) } = form;
  if (lastWidth < leastWidth) return rows.flatMap((row) => blockOf(row, width));
  const padded = (cells: readonly string[]): readonly string[] =>
    cells.flatMap((cell, column) => {
      const cellWidth = widths[column] ?? 0;
      if (cellWidth === 0) return [];
      return form.columns[column]?.isNumber ? cell.padStart(cellWidth) : cell.padEnd(cellWidth);
    });
  const titles = [...padded(form.columns.map(({ title }) => title)), form.lastTitle];
  const lines = rows.map(({ cells, last }) => {
    const [time = '', type = '', ...others] = padded(cells);
    return joined([colours.minor(time), colours.strong(type), ...others, cutTo(last, lastWidth)], GAP);
  });
  return [colours.strong(titles.join(GAP)), ...lines];
}

function escaped({ cells, last, block }: Row): Row {
  return {
    cells: cells.map(escapeControls),
    last: escapeControls(last),
    block: { title: block.title, lines: block.lines.map(escapeControls) },
  };
}

function blockOf({ block: { title, lines } }: Row, width: number): Printable[] {
  return [colours.strong(title), ...lines.map((line) => cutTo(`  ${line}`, width))];
}

function cutTo(text: string, width: number): string {
  return text.length <= width ? text : `${text.slice(0, width - 1)}…`;
}
