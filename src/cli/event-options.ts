import { InvalidArgumentError, Option } from 'commander';
import { serviceTypes } from '../providers/banking-service/catalog.ts';
import type { TypeList } from '../receiver/events/type-list.ts';
import { shorten } from '../receiver/values/foreign-values.ts';
import { readDuration } from './duration.ts';
import { CommandError, usageError } from './failure.ts';
import { looksSecret } from './hide-secrets.ts';
import { readInput } from './input.ts';

/** The event that a command makes up. */
export interface EventOptions {
  readonly data?: string;
  readonly id?: string;
  readonly any?: boolean;
  /** The event is made this many milliseconds old. */
  readonly age?: number;
}

export function eventOptions(): readonly Option[] {
  return [
    new Option('--data <json>', "the event's data as JSON, or a file that holds it; - for stdin"),
    new Option('--id <id>', 'the id of the event; made up by default'),
    new Option('--any', 'send any type, even one that the service does not list'),
    new Option('--age <duration>', 'how old the event is from the start, as 14m or 20m59s').argParser(
      parseAge,
    ),
  ];
}

/** A hundred years, as in the sandbox: an older event would have a year that is not of four digits. */
const MAX_AGE_MS = 36_500 * 86_400_000;

function parseAge(text: string): number {
  const ms = readDuration(text);
  if (ms !== undefined && ms <= MAX_AGE_MS) return ms;
  throw new InvalidArgumentError('It must be a duration such as 30s, 14m, 20m59s or 2h, of 36500d at most.');
}

/** Throws for a type that the service does not list, unless `any` type may be sent. */
export function requireListedType(
  type: string,
  { any }: EventOptions,
  suggest: (nearest: string) => string,
  types: TypeList = serviceTypes,
): void {
  if (any || types.has(type)) return;
  const shown = looksSecret(type) ? '…' : shorten(type, 100);
  const suggestion = suggest(types.nearestType(shown));
  throw usageError(`${shown} is not a type that the service lists${suggestion} Give --any to send it anyway`);
}

/** The data of an event, from the value of `--data`: a JSON object, or the name of a file. */
export async function readEventData(text: string): Promise<object> {
  const json = /^\s*\{/.test(text) ? text : Buffer.from(await readInput(text)).toString();
  let data: unknown;
  try {
    data = JSON.parse(json);
  } catch (cause) {
    throw new CommandError('file_unreadable', 'the data of the event is not JSON', { cause });
  }
  if (typeof data === 'object' && data !== null && !Array.isArray(data)) return data;
  throw usageError('the data of the event must be a JSON object');
}
