import { nearestOf } from '../../receiver/events/nearest.ts';
import { checkCanAsk, confirm } from '../confirm.ts';
import { CommandError, setFailed } from '../failure.ts';
import { createOutput, type Output } from '../output.ts';
import { checkUnmatchedType } from '../type-option.ts';
import type { AcceptCommandOptions } from './accept-options.ts';
import { Acceptance } from './acceptance.ts';
import { type LoadedReceiver, loadAcceptingReceiver } from './accepting-receiver.ts';
import { checkFile } from './check-file.ts';
import { EventFile } from './event-file.ts';
import type { Forecast } from './forecast.ts';
import { type Foresight, foreseeFile } from './foresee-file.ts';
import { printAcceptance } from './print-acceptance.ts';
import { failForUnacceptable, printForecast } from './print-forecast.ts';

/** `posthorn events accept` */
export async function accept(file: string, options: AcceptCommandOptions): Promise<void> {
  const output = createOutput(options);
  checkFile(file);
  if (!options.yes && !options.dryRun) checkCanAsk('accept', 'events');
  const loaded = await loadAcceptingReceiver(options);
  const events = new EventFile(file, loaded.settings, options);
  const foresight = await foreseeFile(events, loaded, output);
  const { forecast } = foresight;
  checkLines(file, foresight);
  checkType(options, loaded, forecast, output);
  printForecast(foresight, options, output);
  if (options.dryRun || forecast.toAccept === 0) {
    failForUnacceptable(forecast.counts);
    if (!options.dryRun) output.note('nothing is left to accept');
    await loaded.close();
    return;
  }
  if (!options.yes) await ask(forecast, options);
  await acceptAll(file, events, { options, loaded, forecast, output });
}

/** Throws an error for a file that is not made of JSON at all. */
function checkLines(file: string, { forecast, named }: Foresight): void {
  const name = JSON.stringify(file);
  if (forecast.lines === 0)
    throw new CommandError('failed', `${name} has no events: it has empty lines only`);
  if (forecast.notObjects < forecast.lines) return;
  const [[number, problem] = [1, '']] = named;
  const reason = `line ${number}: ${problem}`;
  throw new CommandError('file_unreadable', `no line of ${name} is an event as JSON; ${reason}`);
}

/** A misspelt type must not look like one without events. */
function checkType(
  { type }: AcceptCommandOptions,
  { settings }: LoadedReceiver,
  { byType, otherTypes }: Forecast,
  output: Output,
): void {
  if (type === undefined || byType.size > 0 || otherTypes.size === 0) return;
  checkUnmatchedType(type, 'no event of the file', settings.provider);
  // A provider may not list its types, but the file has some.
  const { text } = nearestOf(type, [...otherTypes]);
  output.note(`no event of the file has the type ${type}; the nearest of its types is ${text}`);
}

async function ask({ toAccept }: Forecast, { limit }: AcceptCommandOptions): Promise<void> {
  const count = limit !== undefined && limit < toAccept ? `${limit} of ${toAccept}` : toAccept;
  if (await confirm(`Accept ${count} ${toAccept === 1 ? 'event' : 'events'}?`)) return;
  throw new CommandError('failed', 'nothing was accepted');
}

interface Work {
  readonly options: AcceptCommandOptions;
  readonly loaded: LoadedReceiver;
  readonly forecast: Forecast;
  readonly output: Output;
}

async function acceptAll(file: string, events: EventFile, work: Work): Promise<void> {
  const { options, loaded, forecast, output } = work;
  const startedAt = performance.now();
  const acceptance = new Acceptance(loaded, options, forecast, output);
  await acceptance.run(events);
  const seconds = (performance.now() - startedAt) / 1_000;
  printAcceptance(acceptance, { file, options, output, seconds });
  const { parkedBefore, failed, busy } = acceptance.counts;
  if (parkedBefore + failed + busy > 0) setFailed();
  failForUnacceptable(acceptance.counts);
  // Completions that are still pending are written within the grace period of close().
  await loaded.close();
  const { failure } = acceptance;
  if (failure !== undefined) throw failure.error;
}
