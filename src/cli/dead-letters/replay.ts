import { exitCodes, usageError } from '../failure.ts';
import { createOutput, type Output } from '../output.ts';
import { colours, type Printable } from '../terminal-text.ts';
import { nextCommand } from './next-command.ts';
import { Overview } from './overview.ts';
import { Portion } from './portion.ts';
import { countsOf, countsOfSkipped } from './print-letter.ts';
import { type Failure, Replayer } from './replayer.ts';
import { checkSelection, Selection, type SelectionOptions } from './selection.ts';
import { type Source, type SourceOptions, withSource } from './source.ts';

export interface ReplayOptions extends SelectionOptions, SourceOptions {
  readonly dryRun?: boolean;
}

/** `posthorn dead-letters replay` */
export async function replay(ids: readonly string[], options: ReplayOptions): Promise<void> {
  const output = createOutput(options);
  checkSelection(ids, options);
  // Somebody may have recorded an old event and sent it again, so it is replayed by its id only.
  const selection = new Selection(ids, options, true);
  await withSource(options, (source) =>
    options.dryRun ? foresee(selection, source, output) : replayAll(selection, source, options, output),
  );
  selection.check();
}

async function foresee(selection: Selection, { deadLetters }: Source, output: Output): Promise<void> {
  const overview = await Overview.of(selection.letters(deadLetters), output);
  const { skipped } = selection;
  output.print(
    { kind: 'summary', dryRun: true, replayed: overview.count, failed: 0, ...skipped, ...overview.toValue() },
    () => [
      countsOf([overview.count, 'would be replayed'], ...countsOfSkipped(skipped)),
      ...overview.toLines(),
    ],
  );
}

async function replayAll(
  selection: Selection,
  { deadLetters, receiver }: Source,
  options: ReplayOptions,
  output: Output,
): Promise<void> {
  if (receiver === undefined) {
    throw usageError('replay needs --receiver: it runs the handlers of that receiver');
  }
  const startedAt = performance.now();
  const portion = await Portion.of(selection.letters(deadLetters));
  const replayer = new Replayer(receiver, deadLetters, output);
  try {
    await portion.workThrough((id, number) => replayer.replay(id, `${number} of ${portion.size}`));
  } finally {
    const { replayed, failures } = replayer;
    // A signal has set another one already.
    if (failures.length > 0) process.exitCode ??= exitCodes.failed;
    const skipped = { ...selection.skipped, left: selection.skipped.left + portion.untried.length };
    const next = nextCommand('replay', { selection, portion }, options);
    output.print(
      { kind: 'summary', dryRun: false, replayed, failed: failures.length, ...skipped, next },
      () => {
        const counts = countsOf(
          [replayed, 'replayed'],
          [failures.length, 'failed'],
          ...countsOfSkipped(skipped),
        );
        const rest = next === undefined ? [] : [`the rest: ${next}`];
        if (!output.isTerminal) return [counts, ...rest];
        const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1);
        return [`${counts}, in ${seconds} s`, ...linesOfFailures(failures), ...rest];
      },
    );
  }
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
