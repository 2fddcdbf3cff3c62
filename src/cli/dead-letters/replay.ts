import { setFailed, usageError } from '../failure.ts';
import { createOutput } from '../output.ts';
import { colours, type Printable } from '../terminal-text.ts';
import { Portion } from './portion.ts';
import { type Failure, Replayer } from './replayer.ts';
import { checkSelection, Selection, type SelectionOptions } from './selection.ts';
import { type Source, type SourceOptions, withSource } from './source.ts';
import { foresee, printProgress, type Work } from './summary.ts';

export interface ReplayOptions extends SelectionOptions, SourceOptions {
  readonly dryRun?: boolean;
}

/** `posthorn dead-letters replay` */
export async function replay(ids: readonly string[], options: ReplayOptions): Promise<void> {
  const output = createOutput(options);
  checkSelection(ids, options);
  // Somebody may have recorded an old event and sent it again, so it is replayed by its id only.
  const selection = new Selection(ids, options, { old: true, others: true });
  const work: Work = { selection, options, output };
  await withSource(options, (source) =>
    options.dryRun ? foresee(work, 'replayed', source) : replayAll(work, source),
  );
  selection.check();
}

async function replayAll(work: Work, source: Source): Promise<void> {
  const { deadLetters, receiver } = source;
  if (receiver === undefined) {
    throw usageError('replay needs --receiver: it runs the handlers of that receiver');
  }
  const startedAt = performance.now();
  const portion = await Portion.of(work.selection.letters(source));
  const replayer = new Replayer(receiver, deadLetters, work.output);
  try {
    await portion.workThrough(
      (id, number) => replayer.replay(id, `${number} of ${portion.size}`),
      (id) => replayer.abandon(id),
    );
  } finally {
    const { replayed, failures } = replayer;
    if (failures.length > 0) setFailed();
    const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1);
    printProgress(work, 'replay', portion, {
      value: { dryRun: false, replayed, failed: failures.length },
      counts: [
        [replayed, 'replayed'],
        [failures.length, 'failed'],
      ],
      ...(work.output.isTerminal && { remark: `, in ${seconds} s`, lines: linesOfFailures(failures) }),
    });
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
