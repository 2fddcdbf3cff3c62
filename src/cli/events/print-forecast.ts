import { countsOf } from '../counts.ts';
import { setFailed } from '../failure.ts';
import type { Output } from '../output.ts';
import { colours, line, type Printable } from '../terminal-text.ts';
import { listCommand } from './accept-command.ts';
import type { AcceptCommandOptions } from './accept-options.ts';
import type { Forecast, ProspectCounts } from './forecast.ts';
import type { Foresight } from './foresee-file.ts';

/** The types that are shown to people; a file can have thousands. */
const MOST_SHOWN_TYPES = 20;

/** Prints what accepting the events of a file would do. */
export function printForecast(
  { forecast, named }: Foresight,
  options: AcceptCommandOptions,
  output: Output,
): void {
  const { counts, byType, others, isNewestFirst } = forecast;
  const types = [...byType].map(([type, prospects]) => ({ type, ...prospects })).sort(byCount);
  const value = { kind: 'summary', dryRun: true, ...counts, otherTypes: others, newestFirst: isNewestFirst };
  output.print({ ...value, types }, () => [
    countsOf(...partsOf(counts), [others, 'of other types']),
    ...types
      .slice(0, MOST_SHOWN_TYPES)
      .map((each) => line`  ${colours.strong(each.type)} ${prospectsOf(each)}`),
    ...rest(types.length - MOST_SHOWN_TYPES, 'types'),
    ...(counts.unreadable > 0 ? ['unreadable:'] : []),
    ...named.map(([number, problem]) => `  line ${number}: ${problem}`),
    ...rest(counts.unreadable - named.length, 'lines'),
  ]);
  for (const note of notesOf(forecast, options)) output.note(note);
}

/** Sets the exit code for events that the command cannot accept. */
export function failForUnacceptable({
  parked,
  tooOld,
  unreadable,
}: Pick<ProspectCounts, 'parked' | 'tooOld' | 'unreadable'>): void {
  if (parked + tooOld + unreadable > 0) setFailed();
}

function partsOf(counts: ProspectCounts): readonly (readonly [number, string])[] {
  return [
    [counts.wouldRun, 'would run'],
    [counts.known, 'known'],
    [counts.parked, 'parked'],
    [counts.running, 'running elsewhere'],
    [counts.ignored, 'without a handler'],
    [counts.tooOld, 'too old'],
    [counts.unreadable, 'unreadable'],
    [counts.uncertain, 'uncertain'],
  ];
}

/** The counts of one type, of which none is zero. */
function prospectsOf(counts: ProspectCounts): string {
  return countsOf(...partsOf(counts).filter(([count]) => count > 0));
}

function byCount(one: ProspectCounts, other: ProspectCounts): number {
  const sum = (counts: ProspectCounts): number =>
    partsOf(counts).reduce((total, [count]) => total + count, 0);
  return sum(other) - sum(one);
}

function rest(count: number, what: string): readonly Printable[] {
  return count > 0 ? [`  and ${count} more ${what}`] : [];
}

function notesOf(
  { counts, tooOldReason, isNewestFirst }: Forecast,
  options: AcceptCommandOptions,
): readonly string[] {
  const isUncertain = counts.uncertain > 0;
  return [
    ...(tooOldReason === undefined ? [] : [`too old: ${tooOldReason}. For this command: --allow-forgotten`]),
    ...(counts.parked > 0 ? [`parked: they wait for a replay: ${listCommand(options)}`] : []),
    ...(isUncertain ? ['uncertain: the store has no peek, so only a claim shows which events it knows'] : []),
    ...(isNewestFirst
      ? ['most events are newest first, and they run in the order of the file: `tac` turns a file around']
      : []),
  ];
}
