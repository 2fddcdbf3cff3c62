import type { DeadLetter } from '../../receiver/dead-letters/dead-letters.ts';
import type { Report } from '../../receiver/outcomes/report.ts';
import { messageOf } from '../../receiver/values/foreign-values.ts';
import { exitCodes, usageError } from '../failure.ts';
import { createOutput, type Output } from '../output.ts';
import { Progress } from '../progress.ts';
import { colours, joined, type Printable } from '../terminal-text.ts';
import { countsOf, printLetters } from './print-letter.ts';
import { readSelection, type Selection, type SelectionOptions } from './selection.ts';
import { type Source, type SourceOptions, withSource } from './source.ts';

export interface ReplayOptions extends SelectionOptions, SourceOptions {
  readonly dryRun?: boolean;
}

/** `posthorn dead-letters replay` */
export async function replay(ids: readonly string[], options: ReplayOptions): Promise<void> {
  const output = createOutput(options);
  const selection = readSelection(ids, options);
  const startedAt = performance.now();
  await withSource(options, async (source) => {
    const old = { count: 0 };
    const chosen = withoutOld(selection, source, old);
    const { replayed, failures } = options.dryRun
      ? { replayed: await printLetters(chosen, output), failures: [] }
      : await replayAll(chosen, source, output);
    const failed = failures.length;
    if (failed > 0) process.exitCode = exitCodes.failed;
    const { running, missing } = selection;
    output.print(
      {
        kind: 'summary',
        dryRun: options.dryRun === true,
        replayed,
        failed,
        running,
        old: old.count,
        missing,
      },
      () => {
        const counts = countsOf(
          [replayed, options.dryRun ? 'would be replayed' : 'replayed'],
          [failed, 'failed'],
          [running, 'still running'],
          [old.count, 'older than the receiver accepts: inspect them, and replay them by their ids'],
          [missing, 'not found'],
        );
        if (!output.isTerminal || options.dryRun) return counts;
        const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1);
        return [`${counts}, in ${seconds} s`, ...linesOfFailures(failures)];
      },
    );
  });
  selection.check();
}

/** Somebody may have recorded such an event and sent it again, so it is replayed by its id only. */
async function* withoutOld(
  selection: Selection,
  { deadLetters }: Source,
  old: { count: number },
): AsyncGenerator<DeadLetter, void, undefined> {
  for await (const letter of selection.letters(deadLetters)) {
    if (letter.reason === 'event_too_old' && !selection.isByIds) old.count += 1;
    else yield letter;
  }
}

interface Failure {
  readonly id: string;
  /** The code of its error, or else its outcome. */
  readonly reason: string;
}

interface Replayed {
  readonly replayed: number;
  readonly failures: readonly Failure[];
}

/** The failures of a replay, grouped by reason, so that people need not search the lines above. */
function linesOfFailures(failures: readonly Failure[]): Printable[] {
  const idsOf = new Map<string, string[]>();
  for (const { reason, id } of failures) idsOf.set(reason, [...(idsOf.get(reason) ?? []), id]);
  return [...idsOf].flatMap(([reason, ids]) => [
    colours.bad(`  ${ids.length} ${reason}`),
    ...ids.map((id) => `    ${id}`),
  ]);
}

async function replayAll(
  letters: AsyncIterable<DeadLetter>,
  { deadLetters, receiver }: Source,
  output: Output,
): Promise<Replayed> {
  if (receiver === undefined)
    throw usageError('replay needs --receiver: it runs the handlers of that receiver');
  // All ids first: a letter that fails again is stored again, and must not be replayed twice.
  const ids: string[] = [];
  for await (const { id } of letters) ids.push(id);
  const progress = new Progress();
  const failures: Failure[] = [];
  let replayed = 0;
  for (const [index, id] of ids.entries()) {
    const letter = await deadLetters.get(id);
    if (letter === undefined) continue; // replayed or dropped elsewhere meanwhile
    progress.show(`replaying ${index + 1} of ${ids.length}, ${failures.length} failed so far: ${id}`);
    const report = await receiver.replay(letter);
    if (isGood(report)) {
      replayed += 1;
      await deadLetters.remove(id); // the receiver removes letters from its own dead letters only
    } else failures.push({ id, reason: report.code ?? report.outcome });
    progress.clear();
    printReplay(letter, report, output);
  }
  return { replayed, failures };
}

function isGood({ outcome }: Report): boolean {
  return outcome === 'processed' || outcome === 'duplicate';
}

function printReplay({ id, type }: DeadLetter, report: Report, output: Output): void {
  const { outcome, error, handlers, warnings } = report;
  const errorFields = error && { code: error.code, message: messageOf(error) };
  output.print({ kind: 'replay', id, type, outcome, ...errorFields, handlers, warnings }, () => {
    const parts: Printable[] = [
      (isGood(report) ? colours.good : colours.bad)(outcome),
      `${type ?? '?'} ${id}`,
    ];
    if (outcome === 'ignored') parts.push('no handler is registered for its type; the dead letter stays');
    if (errorFields !== undefined) parts.push(`${errorFields.code}: ${errorFields.message}`);
    parts.push(...warnings.map(colours.doubtful));
    return joined(parts);
  });
}
