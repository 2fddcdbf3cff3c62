import { createHash } from 'node:crypto';

/**
 * The id of an event's job. It is the same for each delivery, so that an event is in the queue at most once,
 * and differs between events. An event's id may have any form and length, but BullMQ refuses whole numbers
 * and ids with a colon.
 */
export function jobIdOf(eventId: string): string {
  if (/^[\w.-]{1,64}$/.test(eventId)) return `event-${eventId}`;
  return `sha256-${createHash('sha256').update(eventId, 'utf16le').digest('hex')}`;
}
