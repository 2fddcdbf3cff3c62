import { countsOf } from '../counts.ts';
import type { Output } from '../output.ts';
import { emptyScope } from '../stores/empty-scope.ts';
import type { Printable } from '../terminal-text.ts';
import { nextCommand } from './next-command.ts';
import { Overview } from './overview.ts';
import type { Portion } from './portion.ts';
import { MOST_SHOWN_IDS, type RunningLetter, type Selection, type SelectionOptions } from './selection.ts';
import type { Source, SourceOptions } from './source.ts';

/** A command, and the dead letters that it selects. */
export interface Work {
  readonly selection: Selection;
  readonly options: SelectionOptions & SourceOptions & { readonly yes?: boolean };
  readonly output: Output;
}

/** The result of a command. The members of `value` are for `--json`, the others for people. */
export interface Done {
  readonly value: object;
  readonly counts: readonly (readonly [number, string])[];
  /** Follows the counts in their line. */
  readonly remark?: string;
  readonly lines?: readonly Printable[];
  /** The number of selected dead letters that were not tried, if the command tries any. */
  readonly untried?: number;
  /** The command that goes on with the dead letters that are left. */
  readonly next?: string | undefined;
}

/** Prints what a command has done, and the dead letters that it did not take. */
export function printSummary({ selection, options, output }: Work, done: Done): void {
  const { value, counts, remark = '', lines = [], untried, next } = done;
  const { running, old, others, missing, more } = selection.skipped;
  for (const letter of output.json ? running : []) output.print({ kind: 'running', ...letter }, () => '');
  const skipped = {
    running: running.length,
    old,
    // Only an application with several senders has it.
    others: others || undefined,
    missing: missing.length,
    left: untried,
    more,
  };
  output.print({ kind: 'summary', ...value, ...skipped, next }, () => [
    `${countsOf(
      ...counts,
      [running.length, 'still running'],
      [old, 'older than the receiver accepts: inspect them, and replay them by their ids'],
      [others, 'of other providers than the receiver'],
      [untried ?? 0, 'left'],
      [missing.length, 'not found'],
    )}${more ? ', and more beyond --limit' : ''}${remark}`,
    ...linesOfRunning(running),
    ...lines,
    ...(next === undefined ? [] : [`the rest: ${next}`]),
  ]);
  if (selection.foundNothing && options.scope !== undefined)
    output.note(emptyScope('no dead letter', options.scope));
}

/**
 * Prints the summary of a command that works on dead letters, with the command that goes on with the rest.
 */
export function printProgress(work: Work, verb: string, portion: Portion, done: Done): void {
  const next = nextCommand(verb, work.selection, portion, work.options);
  printSummary(work, { ...done, untried: portion.untried.length, next });
}

/** Counts what a command would do. `verb` names it in the past, for example `replayed`. */
export async function foresee(work: Work, verb: string, source: Source): Promise<void> {
  const overview = await Overview.of(work.selection.letters(source), work.output);
  printSummary(work, {
    value: { dryRun: true, [verb]: overview.count, failed: 0, ...overview.toValue() },
    counts: [[overview.count, `would be ${verb}`]],
    lines: overview.toLines(),
  });
}

function linesOfRunning(running: readonly RunningLetter[]): readonly string[] {
  const lines = running
    .slice(0, MOST_SHOWN_IDS)
    .map(({ id, runningUntil }) => `  ${id} may be running until ${runningUntil}`);
  const hidden = running.length - lines.length;
  return hidden > 0 ? [...lines, `  and ${hidden} more`] : lines;
}
