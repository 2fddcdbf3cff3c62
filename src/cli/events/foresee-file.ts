import type { Foreseen } from '../../receiver/handling/ways-in/foresee.ts';
import { countText } from '../counts.ts';
import type { Output } from '../output.ts';
import { Progress } from '../progress.ts';
import type { LoadedReceiver } from './accepting-receiver.ts';
import type { EventFile, FileLine } from './event-file.ts';
import { Forecast } from './forecast.ts';
import { foreseeBatches } from './foresee-batches.ts';

/** The unreadable lines that are named for people; the others are only counted. */
const MOST_NAMED = 10;

/** The counts of a file, and the first lines that cannot be read. */
export interface Foresight {
  readonly forecast: Forecast;
  /** The numbers of the lines, with the reasons. */
  readonly named: readonly (readonly [number, string])[];
}

/** Asks the receiver what it would do with each event of a file. Changes nothing. */
export async function foreseeFile(
  file: EventFile,
  { receiver }: LoadedReceiver,
  output: Output,
): Promise<Foresight> {
  const forecast = new Forecast();
  const named: (readonly [number, string])[] = [];
  const progress = new Progress();
  const ask = async (line: FileLine): Promise<Foreseen | undefined> =>
    line.kind === 'event' ? receiver.foresee(line.event, line.options) : undefined;

  for await (const batch of foreseeBatches(file.lines(), ask)) {
    for (const [line, foreseen] of batch) {
      const problem = forecast.add(line, foreseen);
      if (problem === undefined) continue;
      if (named.length < MOST_NAMED) named.push([line.number, problem]);
      if (output.json) output.print({ kind: 'unreadable', line: line.number, message: problem }, () => '');
    }
    progress.show(`checked ${countText(forecast.lines)} lines`);
  }
  progress.clear();
  return { forecast, named };
}
