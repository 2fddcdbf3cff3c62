/** The most bytes of an answer that are read by default. */
export const MAX_ANSWER_BYTES = 1_048_576;

/** Most answers are shorter. */
const FIRST_CAPACITY = 16_384;

/**
 * The body of an answer, read up to a limit. Every answer of a foreign party is read with it. The limit
 * applies after decompression, because a gzip bomb expands a thousandfold.
 */
export class AnswerBody {
  readonly #maxBytes: number;
  /** One buffer, because small chunks that are kept apart would take many times the limit. */
  #bytes: Uint8Array;
  #length = 0;
  #isCut = false;

  constructor(maxBytes: number = MAX_ANSWER_BYTES) {
    this.#maxBytes = maxBytes;
    this.#bytes = new Uint8Array(Math.min(maxBytes, FIRST_CAPACITY));
  }

  /** True if the answer was longer than the limit, so that the rest was not read. */
  get isCut(): boolean {
    return this.#isCut;
  }

  /** The text so far, even after a failure: it may hold a signing key. */
  text(): string {
    return new TextDecoder().decode(this.#bytes.subarray(0, this.#length));
  }

  /** Rejects if the answer breaks off. At the limit it cancels the rest, which ends the connection. */
  async read(response: Response): Promise<void> {
    const reader = response.body?.getReader();
    if (reader === undefined) return;
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      this.#add(next.value);
      if (!this.#isCut) continue;
      // Not awaited, because nothing depends on it any more.
      reader.cancel().catch(() => {});
      return;
    }
  }

  #add(chunk: Uint8Array): void {
    const room = this.#maxBytes - this.#length;
    this.#isCut = chunk.byteLength > room;
    const part = this.#isCut ? chunk.subarray(0, room) : chunk;
    const needed = this.#length + part.byteLength;
    if (needed > this.#bytes.byteLength) {
      const grown = new Uint8Array(Math.min(this.#maxBytes, Math.max(needed, this.#bytes.byteLength * 2)));
      grown.set(this.#bytes.subarray(0, this.#length));
      this.#bytes = grown;
    }
    this.#bytes.set(part, this.#length);
    this.#length = needed;
  }
}

/** Gives up an unread answer, so that its connection ends. Never rejects. */
export function discardBody(response: Response): void {
  response.body?.cancel().catch(() => {});
}
