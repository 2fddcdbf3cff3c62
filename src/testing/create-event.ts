import { randomUUID } from 'node:crypto';
import { type EventType, serviceTypes } from '../providers/banking-service/catalog.ts';
import type { WebhookEvent } from '../providers/banking-service/event.ts';
import type { EventData } from '../providers/banking-service/event-data.ts';
import { checkOptions } from '../receiver/checks/check-options.ts';
import { ConfigurationError } from '../receiver/errors.ts';
import type { TypedEvent } from '../receiver/events/event-types.ts';
import { TypeList } from '../receiver/events/type-list.ts';
import type { Provider } from '../receiver/provider/provider.ts';
import { shorten, show } from '../receiver/values/foreign-values.ts';
import { createSampleData } from '../service/shapes/sample-data.ts';
import { rememberCreated } from './created-events.ts';
import { testingOf } from './played-provider.ts';

/** An event in the form of another sender. */
export interface CreatedEvent {
  /** Each member as the sender has it. */
  readonly [member: string]: unknown;
}

/** Options of {@link createEvent}. */
export interface CreateEventOptions {
  /** Accepts any type, for example one that the service may add. */
  readonly any: true;
}

/**
 * Creates an event as the sender of a provider would send it, with a new id, created now. If the provider
 * lists its types, `type` must be one of them. `data` is what the sender's form has for the resource.
 *
 * @throws ConfigurationError for a type that is not in the list, and for a provider without `testing`.
 *
 * @example
 * ```ts
 * import { stripe } from 'posthorn/providers';
 * import { createEvent, deliver } from 'posthorn/testing';
 *
 * const provider = stripe();
 * const event = createEvent('invoice.paid', { id: 'in_1', amount_paid: 1250 }, { provider });
 * await deliver(receiver, event, { provider, key });
 * ```
 */
export function createEvent<E extends TypedEvent, const Type extends E['type']>(
  type: Type,
  data: object | undefined,
  options: { readonly provider: Provider<E> },
): CreatedEvent;
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
  options: { readonly any?: true; readonly provider?: Provider } = {},
): WebhookEvent<string, unknown> | CreatedEvent {
  checkOptions(options, ['any', 'provider'], 'createEvent()');
  const { any, provider } = options;
  const types = provider === undefined ? serviceTypes.types : provider.types;
  if (typeof type !== 'string' || (any !== true && types?.includes(type) === false))
    throw unknownType(type, types ?? [], provider);
  const id = `evt_${randomUUID()}`;
  if (provider !== undefined) {
    const event = { ...testingOf(provider).createEvent({ id, type, createdAtMs: Date.now(), data }) };
    rememberCreated(event, { id, type });
    return event;
  }
  return {
    id,
    type,
    created_at: new Date().toISOString(),
    data: data === undefined ? createSampleData(type) : data,
  };
}

function unknownType(
  type: unknown,
  types: readonly string[],
  { name }: Partial<Pick<Provider, 'name'>> = {},
): ConfigurationError {
  const hasNear = typeof type === 'string' && types.length > 0;
  const wayOut = name === undefined ? '. For any other, call createEvent(type, data, { any: true })' : '';
  const question = hasNear ? ` Did you mean "${new TypeList(types).nearestType(shorten(type, 100))}"?` : '';
  return new ConfigurationError(
    `createEvent() got the type ${show(type)}, which ${name ?? 'the service'} does not list.${question} ` +
      `Its types are ${types.join(', ')}${wayOut}`,
  );
}
