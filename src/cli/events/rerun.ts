import { checkCanAsk, confirm } from '../confirm.ts';
import { CommandError, setFailed } from '../failure.ts';
import { createOutput, type Output } from '../output.ts';
import { type ChosenEntries, chooseEntries } from './chosen-entries.ts';
import { foreseeEntries } from './foresee-entries.ts';
import { failForRefused, printRerun, printRerunForecast } from './print-rerun.ts';
import { sameRerun } from './rerun-command.ts';
import type { RerunForecast } from './rerun-forecast.ts';
import { checkRerunOptions, type GivenRerunOptions, type RerunCommandOptions } from './rerun-options.ts';
import { Rerunning } from './rerunning.ts';
import { loadRerunningReceiver, type RerunningReceiver } from './rerunning-receiver.ts';

/** `posthorn events rerun` */
export async function rerun(ids: readonly string[], given: GivenRerunOptions): Promise<void> {
  const output = createOutput(given);
  const options = checkRerunOptions(ids, given);
  const { dryRun = false, yes = false } = options;
  if (!yes && !dryRun) checkCanAsk('rerun', 'events');
  const loaded = await loadRerunningReceiver(options);
  const chosen = await chooseEntries(ids, options, loaded.source);
  const forecast = await foreseeEntries(chosen, loaded, output);
  printRerunForecast(forecast, options, output);
  if (dryRun || forecast.toRun === 0) {
    failForRefused(forecast.counts, ids.length > 0);
    if (!dryRun) output.note('nothing is left to run');
    await loaded.close();
    return;
  }
  if (!yes) await ask(forecast, options);
  const same = sameRerun(ids, options, chosen);
  await rerunAll(chosen, { options, loaded, forecast, output, same });
}

async function ask({ toRun }: RerunForecast, { handler, limit }: RerunCommandOptions): Promise<void> {
  const count = limit !== undefined && limit < toRun ? `${limit} of ${toRun}` : toRun;
  if (await confirm(`Run ${handler} again for ${count} ${toRun === 1 ? 'event' : 'events'}?`)) return;
  throw new CommandError('failed', 'nothing was run');
}

interface Work {
  readonly options: RerunCommandOptions;
  readonly loaded: RerunningReceiver;
  readonly forecast: RerunForecast;
  readonly output: Output;
  readonly same: string;
}

async function rerunAll(chosen: ChosenEntries, work: Work): Promise<void> {
  const { options, loaded, forecast, output, same } = work;
  const startedAt = performance.now();
  const rerunning = new Rerunning(loaded, options, forecast, output);
  await rerunning.run(chosen);
  const seconds = (performance.now() - startedAt) / 1_000;
  printRerun(rerunning, { options, output, seconds, same });
  if (rerunning.counts.failed + rerunning.counts.busy > 0) setFailed();
  failForRefused(rerunning.counts, chosen.until === undefined);
  // Completions that are still pending are written within the grace period of close().
  await loaded.close();
  const { failure } = rerunning;
  if (failure !== undefined) throw failure.error;
}
