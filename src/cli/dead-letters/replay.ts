import type { DeadLetter } from '../../dead-letters/dead-letters.ts';
import { messageOf } from '../../errors.ts';
import { escapeControls } from '../../outcomes/escape.ts';
import type { Report } from '../../outcomes/report.ts';
import { exitCodes, usageError } from '../failure.ts';
import { colours, createOutput, type Output } from '../output.ts';
import { countsOf, lineOfLetter, summaryOf } from './print-letter.ts';
import { readSelection, type Selection, type SelectionOptions } from './selection.ts';
import { type Source, type SourceOptions, withSource } from './source.ts';

export interface ReplayOptions extends SelectionOptions, SourceOptions {
  readonly dryRun?: boolean;
}

/** `posthorn dead-letters replay` */
export async function replay(ids: readonly string[], options: ReplayOptions): Promise<void> {
  const output = createOutput(options);
  const selection = readSelection(ids, options);
  await withSource(options, async (source) => {
    const { chosen, old } = await choose(source, selection);
    const { replayed, failed } = options.dryRun
      ? await preview(chosen, source, output)
      : await replayAll(chosen, source, output);
    if (failed > 0) process.exitCode = exitCodes.failed;
    const { running, missing } = selection;
    output.print(
      { kind: 'summary', dryRun: options.dryRun === true, replayed, failed, running, old, missing },
      () =>
        countsOf(
          [replayed, options.dryRun ? 'would be replayed' : 'replayed'],
          [failed, 'failed'],
          [running, 'still running'],
          [old, 'older than the receiver accepts: look at them, and replay them by their ids'],
          [missing, 'not found'],
        ),
    );
  });
  selection.check();
}

/** The ids come first: a letter that fails again is stored again, and must not come round again. */
async function choose(
  { deadLetters }: Source,
  selection: Selection,
): Promise<{ chosen: string[]; old: number }> {
  const chosen: string[] = [];
  let old = 0;
  for await (const { id, reason } of selection.letters(deadLetters)) {
    // Somebody may have recorded such an event and sent it again, so
    // nobody replays it without having meant it.
    if (reason === 'event_too_old' && !selection.isByIds) old += 1;
    else chosen.push(id);
  }
  return { chosen, old };
}

interface Counts {
  readonly replayed: number;
  readonly failed: number;
}

async function preview(ids: readonly string[], { deadLetters }: Source, output: Output): Promise<Counts> {
  let replayed = 0;
  for (const id of ids) {
    const letter = await deadLetters.get(id);
    if (letter === undefined) continue;
    replayed += 1;
    output.print({ kind: 'letter', ...summaryOf(letter) }, () => lineOfLetter(letter));
  }
  return { replayed, failed: 0 };
}

async function replayAll(
  ids: readonly string[],
  { deadLetters, receiver }: Source,
  output: Output,
): Promise<Counts> {
  if (receiver === undefined) throw usageError('replay needs --receiver: its handlers are what is run');
  let replayed = 0;
  let failed = 0;
  for (const id of ids) {
    const letter = await deadLetters.get(id);
    if (letter === undefined) continue; // replayed or dropped by somebody else meanwhile
    const report = await receiver.replay(letter);
    if (report.outcome === 'processed' || report.outcome === 'duplicate') {
      replayed += 1;
      await deadLetters.remove(id); // the receiver takes a letter out of its own dead letters only
    } else failed += 1;
    printReplay(letter, report, output);
  }
  return { replayed, failed };
}

function printReplay(
  { id, type }: DeadLetter,
  { outcome, error, handlers, warnings }: Report,
  output: Output,
): void {
  const failure = error && { code: error.code, message: messageOf(error) };
  output.print({ kind: 'replay', id, type, outcome, ...failure, handlers, warnings }, () => {
    const isGood = outcome === 'processed' || outcome === 'duplicate';
    const parts = [(isGood ? colours.good : colours.bad)(outcome), escapeControls(`${type ?? '?'} ${id}`)];
    if (outcome === 'ignored') parts.push('no handler is registered for it; the letter stays');
    if (failure !== undefined) parts.push(escapeControls(`${failure.code}: ${failure.message}`));
    parts.push(...warnings.map((warning) => colours.doubtful(escapeControls(warning))));
    return parts.join(' ');
  });
}
