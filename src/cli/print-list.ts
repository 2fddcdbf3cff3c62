import type { Output } from './output.ts';
import { type Row, type TableForm, tableOf } from './table.ts';
import type { Printable } from './terminal-text.ts';

/** The forms in which a list prints its items. */
export interface ListForm<Item> extends TableForm {
  /** The id or key after which a further list begins. */
  readonly idOf: (item: Item) => string;
  /** For `--json`. */
  readonly toValue: (item: Item) => object;
  readonly toLine: (item: Item) => Printable;
  readonly toRow: (item: Item) => Row;
}

/** The items after which the output is waited for, and the rows of one table: a list may have millions. */
const PORTION = 1_000;

/**
 * Prints items: one line each as they come, or on a terminal a table of the next thousand. Resolves with
 * their number, and the id of the last one.
 */
export async function printList<Item>(
  items: AsyncIterable<Item>,
  form: ListForm<Item>,
  output: Output,
): Promise<{ readonly count: number; readonly lastId: string | undefined }> {
  const printTable = (rows: readonly Row[]): void => {
    if (rows.length > 0) output.print({}, () => tableOf(rows, form, process.stdout.columns));
  };
  const rows: Row[] = [];
  let count = 0;
  let lastId: string | undefined;
  for await (const item of items) {
    count += 1;
    lastId = form.idOf(item);
    if (output.isTerminal) rows.push(form.toRow(item));
    else output.print(form.toValue(item), () => form.toLine(item));
    if (count % PORTION > 0) continue;
    printTable(rows.splice(0));
    await output.isWritten();
  }
  printTable(rows);
  return { count, lastId };
}
