import { parseTime } from '../../providers/iso-time.ts';
import { readLines } from '../lines.ts';

/** An id that another program has recorded. */
export interface RecordedId {
  readonly id: string;
  /** In milliseconds since the epoch. */
  readonly recordedAt: number;
}

/** A line of a list, numbered from 1. It is invalid if it is not an id and a time. */
export interface ListLine {
  readonly number: number;
  readonly recorded: RecordedId | undefined;
}

/** Stands for bytes that are not UTF-8. An id that holds it was damaged, here or before. */
const REPLACEMENT = '\uFFFD';

/** In bytes. An id that is longer than any body of an event is not an id. */
const LONGEST_LINE = 1_048_576;

/** Reads lines of an id, a tab and a time, in the text format of `copy` of PostgreSQL. */
export async function* readIdList(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<ListLine> {
  for await (const { number, bytes } of readLines(chunks, LONGEST_LINE))
    yield { number, recorded: bytes && readLine(bytes.toString()) };
}

function readLine(line: string): RecordedId | undefined {
  if (line.includes(REPLACEMENT)) return undefined;
  const [, text = '', time = ''] = /^(.+)\t([^\t]+)$/.exec(line) ?? [];
  const id = unescaped(text);
  const recordedAt = readTime(time);
  return id === undefined || recordedAt === undefined ? undefined : { id, recordedAt };
}

/** The characters that PostgreSQL writes with a backslash, by the letter after it. */
const escaped: ReadonlyMap<string, string> = new Map([
  ['\\', '\\'],
  ['b', '\b'],
  ['f', '\f'],
  ['n', '\n'],
  ['r', '\r'],
  ['t', '\t'],
  ['v', '\v'],
]);

/** Returns undefined for a backslash that PostgreSQL would not have written, and for `\N`, its null. */
function unescaped(text: string): string | undefined {
  const parts = text.split(/\\(.?)/s);
  const read = parts.map((part, index) => (index % 2 === 0 ? part : escaped.get(part)));
  return read.includes(undefined) ? undefined : read.join('');
}

/**
 * A wrong time could make a young id seem old, and lose its event. So milliseconds must have 13 digits, as
 * they have from 2001 to 2286, and seconds are refused; and a time of ISO 8601 must name its zone.
 */
function readTime(text: string): number | undefined {
  if (/^[1-9]\d{12}$/.test(text)) return Number(text);
  return /:\S*(Z|[+-]\d\d(:?\d\d)?)$/i.test(text) ? parseTime(text) : undefined;
}
