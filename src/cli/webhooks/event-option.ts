import { InvalidArgumentError, Option } from 'commander';
import { type Pattern, serviceTypes } from '../../providers/banking-service/catalog.ts';
import type { TypedEvent } from '../../receiver/events/event-types.ts';
import type { TypeList } from '../../receiver/events/type-list.ts';
import type { AnyEventFilter, EnabledEvents } from '../../service/shapes/webhooks.ts';
import { usageError } from '../failure.ts';

/** The wanted events of a webhook at the real service, which may have added types. */
export interface AnyEventOptions {
  readonly event?: readonly string[];
  readonly any?: boolean;
}

const EVENT = ['--event <pattern>', 'a type, transfer.* or *; may be given several times'] as const;

/** The option that narrows a webhook down to some of the types in the catalog. */
export function eventOption(): Option {
  return new Option(...EVENT).argParser((pattern: string, earlier: readonly Pattern[] = []) => {
    if (isPattern(pattern)) return [...earlier, pattern];
    throw new InvalidArgumentError(`It ${complaintOf(pattern, serviceTypes)}`);
  });
}

/** The option `--event` beside `--any`, with which it may name a type that the service has added. */
export function anyEventOptions(): readonly Option[] {
  return [
    new Option(...EVENT).argParser((pattern: string, earlier: readonly string[] = []) => [
      ...earlier,
      pattern,
    ]),
    new Option('--any', 'take any type in --event, even one that the service does not list'),
  ];
}

/**
 * Reads `--event` when all options are known, because `--any` may follow it. `types` are those of the
 * service, or of `--provider`.
 */
export function readEvents(
  { event: patterns, any }: AnyEventOptions,
  types: TypeList,
): EnabledEvents<TypedEvent> | undefined {
  const others = patterns?.filter((pattern) => !types.isPattern(pattern)) ?? [];
  if (patterns === undefined || others.length === 0) return patterns;
  const [first = ''] = others;
  if (!any) throw usageError(`--event ${first} ${complaintOf(first, types)} Give --any to ask for it anyway`);
  if (patterns.includes('*')) return [];
  const typesOf = new Map<string, readonly string[]>();
  for (const filter of types.toFilters(patterns)) typesOf.set(filter.entity, filter.types);
  for (const other of others) {
    const [, entity = '', type = ''] = /^([^.*\s]+)\.([^*\s]+)$/.exec(other) ?? [];
    if (entity === '') throw usageError(`--event ${other} must name a type in full, such as payout.created`);
    typesOf.set(entity, [...(typesOf.get(entity) ?? []), type]);
  }
  return [...typesOf].map(([entity, names]): AnyEventFilter => ({ entity, types: names, any: true }));
}

function complaintOf(pattern: string, types: TypeList): string {
  const nearest = types.nearestPattern(pattern);
  const meant = nearest === undefined ? '' : ` Did you mean ${nearest}?`;
  return `matches no type of the service: ${types.types.join(', ')}.${meant}`;
}

function isPattern(value: unknown): value is Pattern {
  return serviceTypes.isPattern(value);
}
