import type { DeadLetter } from '../../receiver/dead-letters/dead-letters.ts';
import type { Report } from '../../receiver/outcomes/report.ts';
import { messageOf } from '../../receiver/values/foreign-values.ts';
import { exitCodes, usageError } from '../failure.ts';
import { createOutput, type Output } from '../output.ts';
import { Progress } from '../progress.ts';
import { colours, joined, type Printable } from '../terminal-text.ts';
import { countsOf, LetterPrinter } from './print-letter.ts';
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
    const { chosen, old } = await choose(source, selection);
    const { replayed, failures } = options.dryRun
      ? await preview(chosen, source, output)
      : await replayAll(chosen, source, output);
    const failed = failures.length;
    if (failed > 0) process.exitCode = exitCodes.failed;
    const { running, missing } = selection;
    output.print(
      { kind: 'summary', dryRun: options.dryRun === true, replayed, failed, running, old, missing },
      () => {
        const counts = countsOf(
          [replayed, options.dryRun ? 'would be replayed' : 'replayed'],
          [failed, 'failed'],
          [running, 'still running'],
          [old, 'older than the receiver accepts: inspect them, and replay them by their ids'],
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

/** Collects the ids first: a letter that fails again is stored again, and must not be replayed twice. */
async function choose(
  { deadLetters }: Source,
  selection: Selection,
): Promise<{ chosen: string[]; old: number }> {
  const chosen: string[] = [];
  let old = 0;
  for await (const { id, reason } of selection.letters(deadLetters)) {
    // Somebody may have recorded such an event and sent it again, so it is replayed by its id only.
    if (reason === 'event_too_old' && !selection.isByIds) old += 1;
    else chosen.push(id);
  }
  return { chosen, old };
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

async function preview(ids: readonly string[], { deadLetters }: Source, output: Output): Promise<Replayed> {
  const printer = new LetterPrinter(output);
  let replayed = 0;
  for (const id of ids) {
    const letter = await deadLetters.get(id);
    if (letter === undefined) continue;
    replayed += 1;
    printer.add(letter);
  }
  printer.end();
  return { replayed, failures: [] };
}

async function replayAll(
  ids: readonly string[],
  { deadLetters, receiver }: Source,
  output: Output,
): Promise<Replayed> {
  if (receiver === undefined)
    throw usageError('replay needs --receiver: it runs the handlers of that receiver');
  const progress = new Progress();
  const failures: Failure[] = [];
  let replayed = 0;
  for (const [index, id] of ids.entries()) {
    const letter = await deadLetters.get(id);
    if (letter === undefined) continue; // replayed or dropped elsewhere meanwhile
    progress.show(`replaying ${index + 1} of ${ids.length}, ${failures.length} failed so far: ${id}`);
    const report = await receiver.replay(letter);
    if (report.outcome === 'processed' || report.outcome === 'duplicate') {
      replayed += 1;
      await deadLetters.remove(id); // the receiver removes letters from its own dead letters only
    } else failures.push({ id, reason: report.code ?? report.outcome });
    progress.clear();
    printReplay(letter, report, output);
  }
  return { replayed, failures };
}

function printReplay(
  { id, type }: DeadLetter,
  { outcome, error, handlers, warnings }: Report,
  output: Output,
): void {
  const errorFields = error && { code: error.code, message: messageOf(error) };
  output.print({ kind: 'replay', id, type, outcome, ...errorFields, handlers, warnings }, () => {
    const isGood = outcome === 'processed' || outcome === 'duplicate';
    const parts: Printable[] = [(isGood ? colours.good : colours.bad)(outcome), `${type ?? '?'} ${id}`];
    if (outcome === 'ignored') parts.push('no handler is registered for its type; the letter stays');
    if (errorFields !== undefined) parts.push(`${errorFields.code}: ${errorFields.message}`);
    parts.push(...warnings.map(colours.doubtful));
    return joined(parts);
  });
}
