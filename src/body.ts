import type { Delivery } from './delivery.ts';
import { RequestError, UnavailableError } from './errors.ts';
import { LazyAbort } from './lazy-abort.ts';
import type { MaybePromise } from './maybe-promise.ts';
import { withTimeLimit } from './time-limit.ts';

export interface BodyLimits {
  readonly maxBodyBytes: number;
  readonly maxBufferedBytes: number;
  readonly bodyTimeoutMs: number;
}

/** Reads bodies within the limits of size, time, and memory for all of them together. */
export class BodyReader {
  readonly #limits: BodyLimits;
  #reservedBytes = 0;

  constructor(limits: BodyLimits) {
    this.#limits = limits;
  }

  /**
   * Reads the body of a delivery, whose declared length is `length`, until `deadline`, by the monotonic clock, at the latest. Fails
   * with {@link RequestError} for a body that is too large, too slow or cut short, and with {@link UnavailableError} when the memory
   * for bodies is taken.
   */
  read(delivery: Delivery, length: number | undefined, deadline: number): MaybePromise<Uint8Array> {
    const { maxBodyBytes, maxBufferedBytes } = this.#limits;
    // A body of undeclared length may turn out as large as any, so the most is reserved for it.
    const bytes = length ?? Math.min(maxBodyBytes, maxBufferedBytes);
    if (this.#reservedBytes + bytes > maxBufferedBytes) {
      throw new UnavailableError(
        'buffer_full',
        `the bodies being read fill maxBufferedBytes (${maxBufferedBytes})`,
      );
    }
    const request = new BodyRequest(maxBodyBytes);
    const reading = delivery.readBody(request);
    return reading instanceof Uint8Array
      ? checkLength(reading, maxBodyBytes)
      : this.#wait(reading, request, bytes, deadline);
  }

  /** Waits for a body that has not arrived yet, with room reserved for it. */
  async #wait(
    reading: Promise<Uint8Array>,
    request: BodyRequest,
    bytes: number,
    deadline: number,
  ): Promise<Uint8Array> {
    const { maxBodyBytes, bodyTimeoutMs } = this.#limits;
    const limitMs = Math.min(bodyTimeoutMs, deadline - performance.now());
    this.#reservedBytes += bytes;
    try {
      // Limited here too, so that an adapter which is deaf to the signal cannot hang the delivery.
      const body = await withTimeLimit(reading, limitMs, () => {
        const late = bodyTimeout(limitMs);
        request.abort(late);
        return late;
      });
      return checkLength(body, maxBodyBytes);
    } finally {
      this.#reservedBytes -= bytes;
    }
  }
}

/** What an adapter is asked for. */
class BodyRequest extends LazyAbort {
  readonly maxBytes: number;

  constructor(maxBytes: number) {
    super();
    this.maxBytes = maxBytes;
  }
}

function bodyTimeout(ms: number): RequestError {
  return new RequestError('body_timeout', `the body did not arrive within ${Math.round(ms)} ms`);
}

function checkLength(body: Uint8Array, maxBodyBytes: number): Uint8Array {
  const { byteLength } = body;
  if (byteLength <= maxBodyBytes) return body;
  throw new RequestError(
    'body_too_large',
    `the body has ${byteLength} bytes; maxBodyBytes is ${maxBodyBytes}`,
  );
}
