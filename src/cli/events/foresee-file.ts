import type { Foreseen } from '../../receiver/handling/ways-in/foresee.ts';
import { countText } from '../counts.ts';
import { codeOf } from '../failure.ts';
import type { Output } from '../output.ts';
import { Progress } from '../progress.ts';
import { CONNECTION_LIMIT_MS, repeat } from '../repeat.ts';
import type { LoadedReceiver } from './accepting-receiver.ts';
import type { EventFile, FileLine } from './event-file.ts';
import { Forecast } from './forecast.ts';

/** The number of events about which the store is asked at once. */
const AT_ONCE = 16;

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
  const endsAt = performance.now() + CONNECTION_LIMIT_MS;
  // A client that has just been created is not connected yet.
  const isTooEarly = (error: unknown): boolean =>
    codeOf(error) === 'store_unavailable' && performance.now() < endsAt;
  const ask = async (line: FileLine): Promise<Foreseen | undefined> =>
    line.kind === 'event' ? repeat(() => receiver.foresee(line.event, line.options), isTooEarly) : undefined;

  for await (const batch of inBatches(file.lines())) {
    const answers = await Promise.all(batch.map(ask));
    for (const [index, line] of batch.entries()) {
      const problem = forecast.add(line, answers[index]);
      if (problem === undefined) continue;
      if (named.length < MOST_NAMED) named.push([line.number, problem]);
      if (output.json) output.print({ kind: 'unreadable', line: line.number, message: problem }, () => '');
    }
    progress.show(`checked ${countText(forecast.lines)} lines`);
  }
  progress.clear();
  return { forecast, named };
}

async function* inBatches(lines: AsyncIterable<FileLine>): AsyncGenerator<readonly FileLine[]> {
  let batch: FileLine[] = [];
  for await (const line of lines) {
    batch.push(line);
    if (batch.length < AT_ONCE) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}
