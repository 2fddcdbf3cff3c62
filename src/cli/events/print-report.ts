import type { Outcome, ReportedError } from '../../receiver/outcomes/outcome.ts';
import type { Report } from '../../receiver/outcomes/report.ts';
import { messageOf } from '../../receiver/values/foreign-values.ts';
import type { Output } from '../output.ts';
import { colours, joined, type Printable } from '../terminal-text.ts';

/** A file may have thousands of these. */
const NOT_PRINTED: readonly Outcome[] = ['duplicate', 'ignored'];

/** Prints the end of an event of a file, unless the command passed it over. */
export function printReport(line: number, report: Report, output: Output): void {
  const { outcome, event, error } = report;
  if (NOT_PRINTED.includes(outcome)) return;
  // The reason why events are too old was printed once, after the check of the file.
  const isExplained = outcome === 'rejected' && error?.code === 'event_too_old';
  output.print({ kind: 'accept', line, ...fieldsOf(report) }, () =>
    lineOf(report, outcome, event?.id ?? `of line ${line}`, isExplained),
  );
}

/** Prints the end of an event of the journal, unless the command passed it over. `end` is the word for it. */
export function printRerunReport(end: Outcome | 'superseded', report: Report, output: Output): void {
  if (NOT_PRINTED.includes(report.outcome)) return;
  output.print({ kind: 'rerun', ...fieldsOf(report) }, () => lineOf(report, end, report.event?.id ?? '?'));
}

function fieldsOf({ outcome, event, error, handlers, warnings }: Report): object {
  const { id, key, type, account } = event ?? {};
  return { id, key, type, account, outcome, ...errorFields(error), handlers, warnings };
}

function errorFields(error: ReportedError | undefined): object {
  return error === undefined ? {} : { code: error.code, message: messageOf(error) };
}

function lineOf(
  { event, error, warnings }: Report,
  end: Outcome | 'superseded',
  id: string,
  isExplained = false,
): Printable {
  const parts: Printable[] = [colourOf(end)(end), `${event?.type ?? '?'} ${id}`];
  if (error !== undefined) parts.push(isExplained ? error.code : `${error.code}: ${messageOf(error)}`);
  parts.push(...warnings.map(colours.doubtful));
  return joined(parts);
}

function colourOf(end: Outcome | 'superseded'): (text: string) => Printable {
  if (end === 'superseded') return colours.doubtful;
  return end === 'processed' || end === 'queued' ? colours.good : colours.bad;
}
