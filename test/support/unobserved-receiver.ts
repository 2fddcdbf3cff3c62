import { createMemoryStore, createReceiver, type Receiver } from 'posthorn';
import { createMapDeadLetters } from './map-dead-letters.ts';
import type { EndpointOptions } from './open-endpoint.ts';
import { KEY } from './served.ts';

/** A receiver whose default log has nothing to warn of. It prints for as long as it has no observer. */
export function createUnobserved(options: EndpointOptions = {}): Receiver {
  const deadLetters = createMapDeadLetters();
  return createReceiver({ signingKey: KEY, store: createMemoryStore(), deadLetters, ...options });
}
