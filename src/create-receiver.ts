import { ConfigurationError } from './receiver/errors.ts';
import type { Schemas } from './receiver/events/schema.ts';
import type { ReceiverOptions } from './receiver/options.ts';
import { PendingWarnings } from './receiver/outcomes/pending-warnings.ts';
import { WebhookReceiver } from './receiver/receiver.ts';
import type { Receiver } from './receiver/receiver-interface.ts';
import { readOptions } from './receiver/settings.ts';
import { hasFakeTimers } from './receiver/timing/process-clock.ts';
import { createMemoryStore } from './stores/memory/memory.ts';
import { memoryStoreWarnings } from './stores/memory/several-processes.ts';

const FAKE_TIMERS =
  'fake timers were installed before posthorn was loaded, and with them no delivery would end: import posthorn before they are installed, or leave setTimeout and setImmediate out of them';

/**
 * Creates a receiver.
 *
 * @throws ConfigurationError for a wrong or unknown option.
 *
 * @example
 * ```ts
 * import { createReceiver } from 'posthorn';
 *
 * const receiver = createReceiver({ signingKey: process.env.SIGNING_KEY });
 * receiver.on('transfer.succeeded', (event) => console.log(event.data.id));
 * ```
 */
export function createReceiver<const S extends Schemas = Record<never, never>>(
  options: ReceiverOptions<S>,
): Receiver<S> {
  if (hasFakeTimers()) throw new ConfigurationError(FAKE_TIMERS);
  const warnings = new PendingWarnings();
  const settings = readOptions(options, createMemoryStore, warnings.addMisuse);
  const receiver = new WebhookReceiver<S>(settings, warnings);
  warnings.add(...memoryStoreWarnings(settings));
  return receiver;
}
