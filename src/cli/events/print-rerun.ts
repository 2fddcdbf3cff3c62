import { countsOf } from '../counts.ts';
import { setFailed } from '../failure.ts';
import type { Output } from '../output.ts';
import type { RerunForecast } from './rerun-forecast.ts';
import type { RerunCommandOptions } from './rerun-options.ts';
import type { Rerunning } from './rerunning.ts';

/** Prints what running a handler again would do. */
export function printRerunForecast(
  { counts, events, named, reasons, toRun }: RerunForecast,
  { handler, run }: RerunCommandOptions,
  output: Output,
): void {
  const { wouldRun, done, running } = counts;
  output.print({ kind: 'summary', dryRun: true, handler, run, ...counts }, () => [
    countsOf(
      [wouldRun, 'would run'],
      [done, 'done by this run'],
      [running, 'running elsewhere'],
      ...refusalsOf(counts, handler),
    ),
    ...(counts.refused > 0 ? ['refused:'] : []),
    ...named.map(([id, reason]) => `  ${id}: ${reason}`),
    ...(counts.refused > named.length ? [`  and ${counts.refused - named.length} more events`] : []),
  ]);
  const noBody = reasons.get('noBody');
  if (noBody !== undefined) output.note(`without a body: ${noBody}`);
  // Usually the others are of types that the handler does not take.
  const unfinished = reasons.get('unfinished');
  if (unfinished !== undefined && toRun + counts.done === 0)
    output.note(`not finished by ${handler}: ${unfinished}`);
  if (events === 0) output.note('the journal has none of these events');
}

/**
 * Sets the exit code for events that the command cannot run. A selection has events that the handler has not
 * finished, such as those of other types; ids name them one by one.
 */
export function failForRefused(
  { noBody, refused, unfinished }: Pick<RerunForecast['counts'], 'noBody' | 'refused' | 'unfinished'>,
  areNamed: boolean,
): void {
  if (noBody + refused + (areNamed ? unfinished : 0) > 0) setFailed();
}

/** The command whose end is printed. */
interface Ended {
  readonly options: RerunCommandOptions;
  readonly output: Output;
  readonly seconds: number;
  /** The command that goes on, for a shell. */
  readonly same: string;
}

/** Prints the counts, and the command that goes on with the events that are left, failed or running. */
export function printRerun(
  { counts, failure, left, unrecorded }: Rerunning,
  { options: { handler, run }, output, seconds, same }: Ended,
): void {
  const { processed, superseded, done, failed, busy } = counts;
  const next = left + failed + busy > 0 ? same : undefined;
  output.print({ kind: 'summary', dryRun: false, handler, run, ...counts, left, next }, () => [
    `${countsOf(
      [processed, 'processed'],
      [superseded, 'superseded'],
      [done, 'done before'],
      [failed, 'failed'],
      [busy, 'running elsewhere'],
      ...refusalsOf(counts, handler),
      [left, 'left'],
    )}${output.isTerminal ? `, in ${seconds.toFixed(1)} s` : ''}`,
    ...(next === undefined ? [] : [`the rest: ${next}`]),
  ]);
  if (failure !== undefined && unrecorded > 0)
    output.note(
      `the store may not have recorded that ${unrecorded} of these were run: the same command would run them again`,
    );
}

function refusalsOf(
  { noBody, unfinished, refused }: Pick<RerunForecast['counts'], 'noBody' | 'unfinished' | 'refused'>,
  handler: string,
): readonly (readonly [number, string])[] {
  return [
    [noBody, 'without a body'],
    [unfinished, `not finished by ${handler}`],
    [refused, 'refused'],
  ];
}
