import { isMemoryStore } from '../../stores/memory/memory.ts';
import { checkAccountOption } from '../account-option.ts';
import { usageError } from '../failure.ts';
import { type HandlingReceiver, loadHandlingReceiver } from '../handling-receiver.ts';
import type { AcceptCommandOptions } from './accept-options.ts';

/** A receiver that accepts events, and foresees what accepting them would do. */
export type LoadedReceiver = HandlingReceiver<'accept' | 'foresee'>;

/** Imports the module of `--receiver`. Throws a usage error if its receiver cannot accept events. */
export async function loadAcceptingReceiver(options: AcceptCommandOptions): Promise<LoadedReceiver> {
  const loaded = await loadHandlingReceiver(options, ['accept', 'foresee'], 'accept events');
  const { settings } = loaded;
  checkAccountOption(settings, options.account);
  if (isMemoryStore(settings.store) && !options.allowForgotten)
    throw usageError(
      'the receiver keeps its ids in the memory of its process, so no command can know what the running processes ' +
        'have handled: give it their store, or say --allow-forgotten to run each event',
    );
  return loaded;
}
