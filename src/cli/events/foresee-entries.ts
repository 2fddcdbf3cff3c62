import { countText } from '../counts.ts';
import type { Output } from '../output.ts';
import { Progress } from '../progress.ts';
import type { ChosenEntries } from './chosen-entries.ts';
import { foreseeBatches } from './foresee-batches.ts';
import { RerunForecast } from './rerun-forecast.ts';
import type { RerunningReceiver } from './rerunning-receiver.ts';

/** Asks the receiver what a rerun of each entry would do. Changes nothing. */
export async function foreseeEntries(
  { read }: ChosenEntries,
  { receiver, rerunOptions }: RerunningReceiver,
  output: Output,
): Promise<RerunForecast> {
  const forecast = new RerunForecast();
  const progress = new Progress();
  for await (const batch of foreseeBatches(read(), (entry) => receiver.foreseeRerun(entry, rerunOptions))) {
    for (const [entry, foreseen] of batch) {
      const end = forecast.add(entry, foreseen);
      if (!output.json || (end !== 'noBody' && end !== 'refused')) continue;
      const { account, id, key, type } = entry;
      const { code, message } = foreseen.error ?? {};
      output.print({ kind: 'refused', id, key, type, account, code, message }, () => '');
    }
    progress.show(`checked ${countText(forecast.events)} events`);
  }
  progress.clear();
  return forecast;
}
