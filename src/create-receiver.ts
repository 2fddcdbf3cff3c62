import type { KnownEvent } from './providers/banking-service/event.ts';
import { createService, serviceParts } from './providers/banking-service/service.ts';
import { ConfigurationError } from './receiver/errors.ts';
import type { TypedEvent } from './receiver/events/event-types.ts';
import type { SchemasByEntity } from './receiver/events/schema.ts';
import type { AnyOptions } from './receiver/options.ts';
import { PendingWarnings } from './receiver/outcomes/pending-warnings.ts';
import { shortDeadlineWarnings } from './receiver/outcomes/short-deadline.ts';
import { WebhookReceiver } from './receiver/receiver.ts';
import { readOptions } from './receiver/settings.ts';
import { hasFakeTimers } from './receiver/timing/process-clock.ts';
import type { Receiver, ReceiverOptions } from './receiver-interface.ts';
import { createMemoryStore } from './stores/memory/memory.ts';
import { memoryStoreWarnings } from './stores/memory/several-processes.ts';

const FAKE_TIMERS =
  'fake timers were installed before posthorn was loaded, and with them no delivery would end: import posthorn before they are installed, or leave setTimeout and setImmediate out of them';

/** The parts that a receiver has if its options name no others. */
export const defaults: Parameters<typeof readOptions>[1] = {
  createStore: createMemoryStore,
  provider: createService(serviceParts),
};

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
export function createReceiver<
  const S extends SchemasByEntity = Record<never, never>,
  E extends TypedEvent = KnownEvent,
>(options: ReceiverOptions<S, E>): Receiver<S, E>;
// The receiver itself handles events of any type: the signature above says which ones its handlers get.
export function createReceiver(options: AnyOptions): Readonly<Record<keyof Receiver, unknown>> {
  if (hasFakeTimers()) throw new ConfigurationError(FAKE_TIMERS);
  const warnings = new PendingWarnings();
  const settings = readOptions(options, defaults, warnings.addMisuse);
  const receiver = new WebhookReceiver(settings, warnings);
  warnings.add(...memoryStoreWarnings(settings));
  warnings.add(...shortDeadlineWarnings(settings, options.deadlineMs));
  return receiver;
}
