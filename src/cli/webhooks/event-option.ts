import { InvalidArgumentError, Option } from 'commander';
import { eventTypes, type Pattern, serviceTypes } from '../../providers/banking-service/catalog.ts';
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
    throw new InvalidArgumentError(`It ${complaintOf(pattern)}`);
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

/** Reads `--event` when all options are known, because `--any` may follow it. */
export function readEvents({ event: patterns, any }: AnyEventOptions): EnabledEvents | undefined {
  if (patterns === undefined || patterns.every(isPattern)) return patterns;
  const others = patterns.filter((pattern) => !isPattern(pattern));
  const [first = ''] = others;
  if (!any) throw usageError(`--event ${first} ${complaintOf(first)} Give --any to ask for it anyway`);
  if (patterns.includes('*')) return [];
  const typesOf = new Map<string, readonly string[]>();
  for (const { entity, types } of serviceTypes.toFilters(patterns)) typesOf.set(entity, types);
  for (const other of others) {
    const [, entity = '', type = ''] = /^([^.*\s]+)\.([^*\s]+)$/.exec(other) ?? [];
    if (entity === '') throw usageError(`--event ${other} must name a type in full, such as payout.created`);
    typesOf.set(entity, [...(typesOf.get(entity) ?? []), type]);
  }
  return [...typesOf].map(([entity, types]): AnyEventFilter => ({ entity, types, any: true }));
}

function complaintOf(pattern: string): string {
  const nearest = serviceTypes.nearestPattern(pattern);
  const meant = nearest === undefined ? '' : ` Did you mean ${nearest}?`;
  return `matches no type of the service: ${[...eventTypes].join(', ')}.${meant}`;
}

function isPattern(value: unknown): value is Pattern {
  return serviceTypes.isPattern(value);
}
