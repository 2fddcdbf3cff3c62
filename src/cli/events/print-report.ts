import type { Outcome, ReportedError } from '../../receiver/outcomes/outcome.ts';
import type { Report } from '../../receiver/outcomes/report.ts';
import { messageOf } from '../../receiver/values/foreign-values.ts';
import type { Output } from '../output.ts';
import { colours, joined, type Printable } from '../terminal-text.ts';

/** A file may have thousands of these. */
const NOT_PRINTED: readonly Outcome[] = ['duplicate', 'ignored'];

/** Prints the end of an event, unless the command passed it over. */
export function printReport(line: number, report: Report, output: Output): void {
  const { outcome, event, error, handlers, warnings } = report;
  if (NOT_PRINTED.includes(outcome)) return;
  const { id, type, account } = event ?? {};
  const value = {
    kind: 'accept',
    line,
    id,
    type,
    account,
    outcome,
    ...errorFields(error),
    handlers,
    warnings,
  };
  output.print(value, () => {
    const isGood = outcome === 'processed' || outcome === 'queued';
    const parts: Printable[] = [
      (isGood ? colours.good : colours.bad)(outcome),
      `${type ?? '?'} ${id ?? `of line ${line}`}`,
    ];
    if (error !== undefined) parts.push(shown(outcome, error));
    parts.push(...warnings.map(colours.doubtful));
    return joined(parts);
  });
}

function errorFields(error: ReportedError | undefined): object {
  return error === undefined ? {} : { code: error.code, message: messageOf(error) };
}

/** The reason why events are too old was printed once, after the check of the file. */
function shown(outcome: Outcome, error: ReportedError): string {
  const isExplained = outcome === 'rejected' && error.code === 'event_too_old';
  return isExplained ? error.code : `${error.code}: ${messageOf(error)}`;
}
