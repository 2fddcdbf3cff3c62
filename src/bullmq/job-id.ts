import { createHash } from 'node:crypto';

/**
 * The id of an event's job: the same for each delivery, so that an event is in the queue at most once. BullMQ
 * refuses ids with a colon and whole numbers, and an event's id may be of any form and length. Different
 * events get different ones.
 */
export function jobIdOf(eventId: string): string {
  if (/^[\w.-]{1,64}$/.test(eventId)) return `event-${eventId}`;
  return `sha256-${createHash('sha256').update(eventId, 'utf16le').digest('hex')}`;
}
