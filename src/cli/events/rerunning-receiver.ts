import type { RerunOptions } from '../../receiver/handling/ways-in/rerun-options.ts';
import { isMemoryStore } from '../../stores/memory/memory.ts';
import { usageError } from '../failure.ts';
import { type HandlingReceiver, loadHandlingReceiver } from '../handling-receiver.ts';
import type { JournalSource } from './journal-source.ts';
import type { RerunCommandOptions } from './rerun-options.ts';

const methods = ['rerun', 'checkRerun', 'foreseeRerun'] as const;

/** A receiver that runs handlers again, its journal, and the options for each event. */
export interface RerunningReceiver extends HandlingReceiver<(typeof methods)[number]> {
  readonly source: JournalSource;
  readonly rerunOptions: RerunOptions;
}

/**
 * Imports the module of `--receiver`. Throws a usage error if its receiver cannot run handlers again, and for
 * a handler that it does not have.
 */
export async function loadRerunningReceiver(options: RerunCommandOptions): Promise<RerunningReceiver> {
  const loaded = await loadHandlingReceiver(options, methods, 'run handlers again');
  const { journal, provider, store } = loaded.settings;
  if (journal === undefined)
    throw usageError(
      'the receiver has no journal, which has the events: give createReceiver the option journal',
    );
  if (isMemoryStore(store))
    throw usageError(
      'the receiver keeps its ids in the memory of its process, so the command could not remember what it has run: ' +
        'give it its store, or call receiver.rerun in that process',
    );
  const { handler, reason, run } = options;
  const rerunOptions = { handlers: [handler], reason, run };
  loaded.receiver.checkRerun(rerunOptions);
  return { ...loaded, source: { journal, provider }, rerunOptions };
}
