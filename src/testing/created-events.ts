import type { PlayedEvent } from '../receiver/provider/provider.ts';

/** The body of some senders has neither the id nor the type of its event. */
const created = new WeakMap<object, PlayedEvent>();

/** Remembers id and type of an event that `createEvent` made, for as long as the object exists. */
export function rememberCreated(event: object, { id, type }: PlayedEvent): void {
  created.set(event, { id, type });
}

/** Returns id and type of an event that `createEvent` made; undefined for any other value. */
export function createdEventOf(event: object | string): PlayedEvent | undefined {
  return typeof event === 'object' ? created.get(event) : undefined;
}
