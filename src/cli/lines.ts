/** A line of a file, without its line end. */
export interface Line {
  /** From 1. */
  readonly number: number;
  /** Undefined if the line is longer than the limit. */
  readonly bytes: Buffer | undefined;
}

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const BYTE_ORDER_MARK: Uint8Array = Buffer.from('\uFEFF');

/**
 * Reads lines, with line ends of Unix or Windows. Empty lines and a byte order mark are passed over. Holds
 * one line at a time, and never more than `maxBytes` of it, because a file can have millions. It splits at
 * line feeds: `node:readline` also splits at U+2028, which an id or an event may hold.
 */
export async function* readLines(
  chunks: AsyncIterable<Uint8Array>,
  maxBytes: number,
): AsyncGenerator<Line, void, undefined> {
  let number = 0;
  for await (const line of splitLines(chunks, maxBytes)) {
    number += 1;
    const bytes = line && withoutEnds(line, number === 1);
    if (bytes?.length !== 0) yield { number, bytes };
  }
}

async function* splitLines(
  chunks: AsyncIterable<Uint8Array>,
  maxBytes: number,
): AsyncGenerator<Buffer | undefined, void, undefined> {
  const line = new UnendedLine(maxBytes);
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(LINE_FEED); end !== -1; end = chunk.indexOf(LINE_FEED, start)) {
      line.add(chunk.subarray(start, end));
      yield line.take();
      start = end + 1;
    }
    line.add(chunk.subarray(start));
  }
  yield line.take();
}

/** The parts of a line whose end has not come yet. */
class UnendedLine {
  readonly #maxBytes: number;
  #parts: Uint8Array[] = [];
  #size = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  add(part: Uint8Array): void {
    this.#size += part.length;
    if (this.#size > this.#maxBytes) this.#parts = [];
    else this.#parts.push(part);
  }

  /** Returns the line, or undefined if it is too long, and begins the next one. */
  take(): Buffer | undefined {
    const line = this.#size > this.#maxBytes ? undefined : Buffer.concat(this.#parts);
    this.#parts = [];
    this.#size = 0;
    return line;
  }
}

function withoutEnds(line: Buffer, isFirst: boolean): Buffer {
  const hasMark = isFirst && line.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK);
  return line.subarray(
    hasMark ? BYTE_ORDER_MARK.length : 0,
    line.at(-1) === CARRIAGE_RETURN ? -1 : line.length,
  );
}
