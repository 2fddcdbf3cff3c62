import type { PosthornError } from '../../errors.ts';
import type { JournalEntry } from '../../journal/journal.ts';
import { refuse } from '../../outcomes/outcome.ts';
import { isReadFailure } from '../../provider/read-failure.ts';
import type { ReceiverServices } from './receiver-services.ts';
import { type RerunInput, readRerun } from './rerun-input.ts';
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
 * Tells what `rerun` would do with an entry and one handler. Changes nothing. Rejects if the store fails. A
 * store without `peek` cannot tell, so an event that was done seems to run.
 */
export async function foreseeRerun(
  services: ReceiverServices,
  entry: JournalEntry,
  handler: string,
  options: CheckedRerunOptions,
): Promise<ForeseenRerun> {
  const { completions, runs, store } = services;
  let input: RerunInput;
  try {
    input = readRerun(services, entry, handler, options);
  } catch (error) {
    return { prospect: 'refused', error: refuse(isReadFailure(error) ? error.cause : error).error };
  }
  const { claimId, toHold } = input;
  const isDone = completions.has(claimId) || (await store.lookUp({ id: claimId }))?.state === 'completed';
  if (isDone) return { prospect: 'done' };
  for (const { claimId: id } of toHold) {
    const isRunning = runs.find(id) !== undefined || (await store.lookUp({ id }))?.state === 'running';
    if (isRunning) return { prospect: 'running' };
  }
  return { prospect: 'wouldRun' };
}
