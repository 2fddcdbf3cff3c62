import { parseTime } from '../../providers/iso-time.ts';

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

/** In characters. An id that is longer than any body of an event is not an id. */
const LONGEST_LINE = 1_048_576;

/**
 * Reads lines of an id, a tab and a time, in the text format of `copy` of PostgreSQL. Empty lines and a byte
 * order mark are passed over. Holds one line at a time, because a list can have millions.
 */
export async function* readIdList(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<ListLine> {
  let number = 0;
  for await (const ended of splitLines(chunks)) {
    const line = ended.replace(/\r$/, '');
    number += 1;
    if (line !== '') yield { number, recorded: readLine(line) };
  }
}

/** Splits at line feeds. `node:readline` also splits at U+2028, which an id may hold. */
async function* splitLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let line = '';
  for await (const chunk of chunks) {
    for (const [index, part] of decoder.decode(chunk, { stream: true }).split('\n').entries()) {
      if (index > 0) {
        yield line;
        line = '';
      }
      if (line.length <= LONGEST_LINE) line += part; // the rest of a line that is too long is not kept
    }
  }
  yield line + decoder.decode();
}

function readLine(line: string): RecordedId | undefined {
  if (line.length > LONGEST_LINE || line.includes(REPLACEMENT)) return undefined;
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
