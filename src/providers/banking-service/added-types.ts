import { invalidOption } from '../../receiver/checks/check-options.ts';
import { TypeList } from '../../receiver/events/type-list.ts';
import { show } from '../../receiver/values/foreign-values.ts';
import { eventTypes } from './catalog.ts';
import type { WebhookEvent } from './event.ts';

/** Types that the service has added to the catalog, by entity. */
export interface AddedTypes {
  readonly [entity: string]: readonly string[];
}

/** An event of a type that was added to the catalog. */
export type AddedEvent<C extends AddedTypes> = {
  [Entity in keyof C & string]: WebhookEvent<`${Entity}.${C[Entity][number]}`>;
}[keyof C & string];

/** Joins the catalog and types that were added. Throws ConfigurationError for a wrong entity or type. */
export function withAddedTypes(added: AddedTypes): TypeList {
  if (typeof added !== 'object' || added === null || Array.isArray(added)) throw wrongCatalog(added);
  for (const [entity, types] of Object.entries(added)) {
    const isWell = /^[^\s/*.]+$/.test(entity) && Array.isArray(types) && [...types].every(isTypeName);
    if (!isWell) throw wrongCatalog({ [entity]: types });
  }
  const types = Object.entries(added).flatMap(([entity, names]) => names.map((name) => `${entity}.${name}`));
  return new TypeList([...new Set([...eventTypes, ...types])]);
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
