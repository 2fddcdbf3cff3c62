import type { PosthornError } from '../../errors.ts';
import type { JournalEntry } from '../../journal/journal.ts';
import type { ReceiverServices } from './receiver-services.ts';
import { isDone } from './rerun.ts';
import { type RerunInput, readReruns, refuseEntry } from './rerun-input.ts';
import type { CheckedRerunOptions } from './rerun-options.ts';

/**
 * The end that the rerun of a handler would have. `done`: the store knows that it was run under this name.
 * `refused`: for the reason in `error`.
 */
export type RerunProspect = 'wouldRun' | 'done' | 'running' | 'refused';

/** The answer to the question about an entry. */
export interface ForeseenRerun {
  readonly prospect: RerunProspect;
  /** The reason for `refused`. */
  readonly error?: PosthornError | undefined;
}

/**
 * Tells what `rerun` would do with an entry: `running` and `wouldRun` if that is so for one of its handlers.
 * Changes nothing. Rejects if the store fails. A store without `peek` cannot tell, so an event that was done
 * seems to run.
 */
export async function foreseeRerun(
  services: ReceiverServices,
  entry: JournalEntry,
  options: CheckedRerunOptions,
): Promise<ForeseenRerun> {
  let inputs: readonly RerunInput[];
  try {
    inputs = readReruns(services, entry, options);
  } catch (error) {
    return { prospect: 'refused', error: refuseEntry(entry, error).answer.error };
  }
  const prospects: RerunProspect[] = [];
  for (const input of inputs) prospects.push(await prospectOf(services, input));
  return { prospect: PROSPECTS.find((prospect) => prospects.includes(prospect)) ?? 'done' };
}

const PROSPECTS: readonly RerunProspect[] = ['running', 'wouldRun'];

async function prospectOf(services: ReceiverServices, input: RerunInput): Promise<RerunProspect> {
  const { runs, store } = services;
  if (await isDone(services, input)) return 'done';
  for (const { claimed } of input.toHold) {
    const { claimId: id } = claimed;
    const isRunning = runs.find(id) !== undefined || (await store.lookUp({ id }))?.state === 'running';
    if (isRunning) return 'running';
  }
  return 'wouldRun';
}
