import type { WebhookReceiver } from '../../receiver/receiver.ts';
import type { Settings } from '../../receiver/settings.ts';
import { isMemoryStore } from '../../stores/memory/memory.ts';
import { checkAccountOption } from '../account-option.ts';
import { usageError } from '../failure.ts';
import { loadReceiver } from '../receiver-module.ts';
import type { AcceptCommandOptions } from './accept-options.ts';

/** The members of a receiver that accept events, and foresee what accepting them would do. */
type AcceptingReceiver = Pick<WebhookReceiver, 'accept' | 'foresee' | 'hasHandlers'>;

/** A receiver that can accept events, and its settings. */
export interface LoadedReceiver {
  readonly receiver: AcceptingReceiver;
  readonly settings: Settings;
  readonly close: () => Promise<unknown>;
}

/** Imports the module of `--receiver`. Throws a usage error if its receiver cannot accept events. */
export async function loadAcceptingReceiver(options: AcceptCommandOptions): Promise<LoadedReceiver> {
  const { receiver, settings } = await loadReceiver(options.receiver, options.json ?? false);
  if (settings === undefined || !canAccept(receiver))
    throw usageError(
      'the receiver is of an earlier version of posthorn, which cannot accept events: ' +
        'the module must import this version',
    );
  if (!receiver.hasHandlers)
    throw usageError(
      'the receiver has no handlers: the module must register them, with on() or onUnhandled(), before it ends',
    );
  checkAccountOption(settings, options.account);
  if (isMemoryStore(settings.store) && !options.allowForgotten)
    throw usageError(
      'the receiver keeps its ids in the memory of its process, so no command can know what the running processes ' +
        'have handled: give it their store, or say --allow-forgotten to run each event',
    );
  return { receiver, settings, close: () => receiver.close() };
}

function canAccept(receiver: object): receiver is AcceptingReceiver {
  return ['accept', 'foresee'].every((name) => typeof Reflect.get(receiver, name) === 'function');
}
