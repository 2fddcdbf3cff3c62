import type { WebhookReceiver } from '../receiver/receiver.ts';
import type { Settings } from '../receiver/settings.ts';
import type { Receiver } from '../receiver-interface.ts';
import { usageError } from './failure.ts';
import { loadReceiver } from './receiver-module.ts';

/** A receiver with handlers, of which a command calls some methods. */
export interface HandlingReceiver<Method extends keyof WebhookReceiver> {
  readonly receiver: Receiver & Pick<WebhookReceiver, Method>;
  readonly settings: Settings;
  readonly close: () => ReturnType<WebhookReceiver['close']>;
}

/**
 * Imports the module of `--receiver`. Throws a usage error if its receiver does not have the methods, or has
 * no handlers. `deed` says what a receiver of an earlier version cannot do.
 */
export async function loadHandlingReceiver<Method extends keyof WebhookReceiver>(
  options: { readonly receiver: string; readonly json?: boolean },
  methods: readonly Method[],
  deed: string,
): Promise<HandlingReceiver<Method>> {
  const { receiver, settings } = await loadReceiver(options.receiver, options.json ?? false);
  if (settings === undefined || !hasMethods(receiver, methods))
    throw usageError(
      `the receiver is of an earlier version of posthorn, which cannot ${deed}: ` +
        'the module must import this version',
    );
  if (!receiver.hasHandlers)
    throw usageError(
      'the receiver has no handlers: the module must register them, with on() or onUnhandled(), before it ends',
    );
  return { receiver, settings, close: () => receiver.close() };
}

function hasMethods<Method extends keyof WebhookReceiver>(
  receiver: object,
  methods: readonly Method[],
): receiver is Pick<WebhookReceiver, Method | 'hasHandlers'> {
  return methods.every((name) => typeof Reflect.get(receiver, name) === 'function');
}
