import { randomUUID } from 'node:crypto';
import { type EventType, eventTypes, serviceTypes } from '../providers/banking-service/catalog.ts';
import type { WebhookEvent } from '../providers/banking-service/event.ts';
import type { EventData } from '../providers/banking-service/event-data.ts';
import { checkOptions } from '../receiver/checks/check-options.ts';
import { ConfigurationError } from '../receiver/errors.ts';
import { shorten, show } from '../receiver/values/foreign-values.ts';
import { createSampleData } from '../service/shapes/sample-data.ts';

/** Options of {@link createEvent}. */
export interface CreateEventOptions {
  /** Accepts any type, for example one that the service may add. */
  readonly any: true;
}

/**
 * Creates an event of the catalog as the service would send it, with a new id, created now. `data` stands in
 * it as it is given: no member of the sample data is added.
 *
 * @throws ConfigurationError for a type that is not in the catalog: the message names the nearest one.
 *
 * @example
 * ```ts
 * import { createEvent } from 'posthorn/testing';
 *
 * const event = createEvent('transfer.succeeded', { id: 'TR1', amount: 1250 });
 * ```
 */
export function createEvent<const Type extends EventType, Data extends object>(
  type: Type,
  data: Data,
): WebhookEvent<Type, Data>;
/** The same with sample data: an id, a state that fits the type, an amount and no tags. */
export function createEvent<const Type extends EventType>(type: Type, data?: undefined): WebhookEvent<Type>;
/** The same with data or, if that is undefined, sample data. */
export function createEvent<const Type extends EventType, Data extends object>(
  type: Type,
  data: Data | undefined,
): WebhookEvent<Type, Data | EventData>;
/** The same for any type, for example one that the service may add. */
export function createEvent<const Type extends string, Data extends object>(
  type: Type,
  data: Data,
  options: CreateEventOptions,
): WebhookEvent<Type, Data>;
/** The same for any type, with sample data. */
export function createEvent<const Type extends string>(
  type: Type,
  data: undefined,
  options: CreateEventOptions,
): WebhookEvent<Type>;
export function createEvent(
  type: string,
  data?: unknown,
  options: Partial<CreateEventOptions> = {},
): WebhookEvent<string, unknown> {
  checkOptions(options, ['any'], 'createEvent()');
  if (typeof type !== 'string' || (options.any !== true && !eventTypes.has(type))) throw unknownType(type);
  return {
    id: `evt_${randomUUID()}`,
    type,
    created_at: new Date().toISOString(),
    data: data === undefined ? createSampleData(type) : data,
  };
}

function unknownType(type: unknown): ConfigurationError {
  const question =
    typeof type === 'string' ? ` Did you mean "${serviceTypes.nearestType(shorten(type, 100))}"?` : '';
  return new ConfigurationError(
    `createEvent() got the type ${show(type)}, which the service does not list.${question} ` +
      `Its types are ${[...eventTypes].join(', ')}. For any other, call createEvent(type, data, { any: true })`,
  );
}
