import { randomUUID } from 'node:crypto';
import type { EventType } from '../events/catalog.ts';
import type { WebhookEvent } from '../events/event.ts';
import { createSampleData } from '../service/sample-data.ts';

/**
 * Creates an event as the service would send it, with a new id, created now. Any `<entity>.<type>` is
 * accepted; editors suggest those of the catalog. `data` stands in it as it is given: no member of the sample
 * data is added.
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
/** The same with sample data: an id, a state that fits the type, an amount and no tags. */
export function createEvent<const Type extends EventType | (string & {})>(type: Type): WebhookEvent<Type>;
export function createEvent(type: string, data?: unknown): WebhookEvent<string, unknown> {
  return {
    id: `evt_${randomUUID()}`,
    type,
    created_at: new Date().toISOString(),
    data: data ?? createSampleData(type),
  };
}
