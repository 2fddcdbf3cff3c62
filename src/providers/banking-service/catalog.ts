import type { Prefix } from '../../receiver/events/event-types.ts';
import { TypeList } from '../../receiver/events/type-list.ts';

/**
 * The event types of the service by entity (interface, "Events"). All TypeScript types of events derive from
 * it.
 */
export const catalog = {
  transfer: ['created', 'succeeded', 'failed', 'updated'],
  merchant: ['created', 'updated', 'verification.succeeded', 'verification.failed'],
  payment_instrument: ['created', 'updated', 'verification.succeeded', 'verification.failed'],
  settlement: [
    'created',
    'approved',
    'funding_transfer.created',
    'funding_transfer.succeeded',
    'funding_transfer.failed',
  ],
  subscription: ['created', 'updated', 'canceled', 'expired'],
  dispute: ['created', 'updated', 'won', 'lost'],
} as const;

/** An entity of the service, for example `transfer`. */
export type Entity = keyof typeof catalog;

type TypeOf<E extends Entity> = `${E}.${(typeof catalog)[E][number]}`;

/** A type in the catalog, for example `transfer.succeeded`. */
export type EventType = { [E in Entity]: TypeOf<E> }[Entity];

/**
 * A pattern of `receiver.on`: a type, `entity.*`, a longer prefix such as `merchant.verification.*`, or `*`.
 */
export type Pattern = '*' | EventType | `${Prefix<EventType>}.*`;

/** Every type of the catalog. */
export const eventTypes: ReadonlySet<string> = new Set(
  Object.entries(catalog).flatMap(([entity, types]) => types.map((type) => `${entity}.${type}`)),
);

/** The catalog, for those that check a type or a pattern by it. */
export const serviceTypes: TypeList = new TypeList([...eventTypes]);
