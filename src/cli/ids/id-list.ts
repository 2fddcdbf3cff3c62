import { parseTime } from '../../receiver/events/time.ts';

/** An id that another program has recorded. */
export interface RecordedId {
  readonly id: string;
  /** In milliseconds since the epoch. */
  readonly recordedAt: number;
}

/** A list of ids as it was read. */
export interface IdList {
  readonly recorded: readonly RecordedId[];
  /** The numbers of the lines that are not an id and a time. */
  readonly invalid: readonly number[];
}

/** Stands for bytes that are not UTF-8. An id that holds it was damaged, here or before. */
const REPLACEMENT = '\uFFFD';

/** Reads lines of an id, a tab and a time. Empty lines and a byte order mark are passed over. */
export function readIdList(bytes: Uint8Array): IdList {
  const recorded: RecordedId[] = [];
  const invalid: number[] = [];
  const text = new TextDecoder().decode(bytes);
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    if (line === '') continue;
    const found = readLine(line);
    if (found === undefined) invalid.push(index + 1);
    else recorded.push(found);
  }
  return { recorded, invalid };
}

function readLine(line: string): RecordedId | undefined {
  if (line.includes(REPLACEMENT)) return undefined;
  const [, id, time = ''] = /^(.+)\t([^\t]+)$/.exec(line) ?? [];
  const recordedAt = readTime(time);
  return id === undefined || recordedAt === undefined ? undefined : { id, recordedAt };
}

/**
 * A wrong time could make a young id seem old, and lose its event. So milliseconds must have 13 digits, as
 * they have from 2001 to 2286, and seconds are refused; and a time of ISO 8601 must name its zone.
 */
function readTime(text: string): number | undefined {
  if (/^[1-9]\d{12}$/.test(text)) return Number(text);
  return /:\S*(Z|[+-]\d\d(:?\d\d)?)$/i.test(text) ? parseTime(text) : undefined;
}
