import { ConfigurationError } from '../receiver/errors.ts';
import type { PlayedEvent } from '../receiver/provider/provider.ts';
import { show } from '../receiver/values/foreign-values.ts';

/**
 * Returns the event that a test plays, for a sender whose bodies do not name theirs. Throws
 * {@link ConfigurationError} if the test does not say which one it is.
 */
export function requirePlayedEvent(event: PlayedEvent | undefined, provider: string): PlayedEvent {
  if (event !== undefined) return event;
  throw new ConfigurationError(
    `${show(provider)} has the id and the type of an event in headers: deliver what createEvent returned, or ` +
      "give { event: { id: '…', type: '…' } } to deliver or signedHeaders",
  );
}
