import { invalidOption } from '../../receiver/checks/check-options.ts';
import type { PatternOf } from '../../receiver/events/event-types.ts';
import { TypeList } from '../../receiver/events/type-list.ts';
import { show } from '../../receiver/values/foreign-values.ts';

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
export type Pattern = PatternOf<{ readonly type: EventType }>;

/** Every type of the catalog. */
export const eventTypes: ReadonlySet<string> = new Set(typesOf(catalog));

/** The catalog, for those that check a type or a pattern by it. */
export const serviceTypes: TypeList = new TypeList([...eventTypes]);

/** Types that the service has added since, by entity. */
export interface AddedTypes {
  readonly [entity: string]: readonly string[];
}

/** Returns every type of the catalog and of `added`. Throws ConfigurationError for a wrong entity or type. */
export function joinCatalog(added: AddedTypes): readonly string[] {
  const isObject = typeof added === 'object' && added !== null && !Array.isArray(added);
  if (!isObject) throw wrongCatalog(added);
  for (const [entity, types] of Object.entries(added)) {
    const isWell = /^[^\s/*.]+$/.test(entity) && Array.isArray(types) && [...types].every(isTypeName);
    if (!isWell) throw wrongCatalog({ [entity]: types });
  }
  return [...new Set([...eventTypes, ...typesOf(added)])];
}

function typesOf(types: AddedTypes): readonly string[] {
  return Object.entries(types).flatMap(([entity, names]) => names.map((name) => `${entity}.${name}`));
}

function isTypeName(name: unknown): boolean {
  return typeof name === 'string' && /^[^\s/*.]+(\.[^\s/*.]+)*$/.test(name);
}

function wrongCatalog(got: unknown): Error {
  return invalidOption(
    'catalog',
    `must be lists of types by entity, as { payout: ["created"] }, got ${show(got)}`,
  );
}
