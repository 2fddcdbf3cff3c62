import { randomUUID } from 'node:crypto';
import type { EventType } from '../events/catalog.ts';
import type { WebhookEvent } from '../events/event.ts';
import type { EventData } from '../events/schema.ts';

/**
 * Creates an event as the service would send it, with a new id, created now. Any `<entity>.<type>` is
 * accepted; editors suggest those of the catalog.
 *
 * @example
 * ```ts
 * const event = createEvent('transfer.succeeded', { id: 'TR1', amount: 1250 });
 * ```
 */
export function createEvent<const Type extends EventType | (string & {}), Data>(
  type: Type,
  data: Data,
): WebhookEvent<Type, Data>;
/** The same with sample data: an id, a state, an amount and no tags. */
export function createEvent<const Type extends EventType | (string & {})>(type: Type): WebhookEvent<Type>;
export function createEvent(type: string, data?: unknown): WebhookEvent<string, unknown> {
  const sample: EventData = { id: `res_${randomUUID()}`, state: 'SUCCEEDED', amount: 1250, tags: {} };
  return { id: `evt_${randomUUID()}`, type, created_at: new Date().toISOString(), data: data ?? sample };
}
