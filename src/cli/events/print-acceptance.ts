import { countsOf } from '../counts.ts';
import type { Output } from '../output.ts';
import { replayCommand, sameCommand } from './accept-command.ts';
import type { AcceptCommandOptions } from './accept-options.ts';
import type { Acceptance } from './acceptance.ts';

/** The command whose end is printed. */
interface Ended {
  readonly file: string;
  readonly options: AcceptCommandOptions;
  readonly output: Output;
  readonly seconds: number;
}

/** Prints the counts, and the commands that go on with the events that were parked or are left. */
export function printAcceptance(
  { counts, failure, left, parkedFor, unrecorded }: Acceptance,
  { file, options, output, seconds }: Ended,
): void {
  const replay = [...parkedFor].map((reason) => replayCommand(reason, options));
  const next = left > 0 ? sameCommand(file, options) : undefined;
  const commands = { ...(replay.length > 0 && { replay }), next };
  output.print({ kind: 'summary', dryRun: false, ...counts, left, ...commands }, () => [
    `${countsOf(
      [counts.processed, 'processed'],
      [counts.queued, 'queued'],
      [counts.known, 'known'],
      [counts.ignored, 'without a handler'],
      [counts.parked, 'parked'],
      [counts.parkedBefore, 'parked before'],
      [counts.failed, 'failed'],
      [counts.busy, 'running elsewhere'],
      [counts.tooOld, 'too old'],
      [counts.unreadable, 'unreadable'],
      [left, 'left'],
    )}${output.isTerminal ? `, in ${seconds.toFixed(1)} s` : ''}`,
    ...replay.map((command) => `the parked: ${command}`),
    ...(next === undefined ? [] : [`the rest: ${next}`]),
  ]);
  if (failure !== undefined && unrecorded > 0)
    output.note(
      `the store may not have recorded that ${unrecorded} of these were handled: the same command would run them again`,
    );
}
