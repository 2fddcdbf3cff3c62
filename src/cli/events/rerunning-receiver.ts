import type { RerunOptions } from '../../receiver/handling/ways-in/rerun-options.ts';
import type { JournalEntry } from '../../receiver/journal/journal.ts';
import { isMemoryStore } from '../../stores/memory/memory.ts';
import { usageError } from '../failure.ts';
import { type HandlingReceiver, loadHandlingReceiver } from './handling-receiver.ts';
import type { JournalSource } from './journal-source.ts';
import type { RerunCommandOptions } from './rerun-options.ts';

/** A receiver that runs handlers again, its journal, and the options for each event. */
export interface RerunningReceiver extends HandlingReceiver<'rerun' | 'foreseeRerun'> {
  readonly source: JournalSource;
  readonly rerunOptions: RerunOptions;
}

/** The receiver checks the options before it looks at the entry. */
const NO_ENTRY: JournalEntry = {
  id: '',
  provider: '',
  firstReceivedAt: 0,
  lastReceivedAt: 0,
  deliveries: 0,
  attempts: 0,
  outcome: 'rejected',
  handled: [],
};

/**
 * Imports the module of `--receiver`. Throws a usage error if its receiver cannot run handlers again, and for
 * a handler that it does not have.
 */
export async function loadRerunningReceiver(options: RerunCommandOptions): Promise<RerunningReceiver> {
  const methods = ['rerun', 'foreseeRerun'] as const;
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
  await loaded.receiver.foreseeRerun(NO_ENTRY, rerunOptions);
  return { ...loaded, source: { journal, provider }, rerunOptions };
}
