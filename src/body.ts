import type { Delivery } from './delivery.ts';
import { RequestError, UnavailableError } from './errors.ts';
import type { HeaderValues } from './headers.ts';
import { LazyAbort } from './lazy-abort.ts';
import { declaredLength } from './request.ts';
import { Timer } from './time-limit.ts';

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
   * Reads the body of a delivery until `deadline`, by the monotonic clock, at the latest. Rejects with {@link RequestError} for a
   * body that is too large, too slow or cut short; throws {@link UnavailableError} when the memory for bodies is taken.
   */
  read(delivery: Delivery, headers: HeaderValues, deadline: number): Promise<Uint8Array> {
    const { maxBodyBytes, maxBufferedBytes, bodyTimeoutMs } = this.#limits;
    // A body of undeclared length may turn out as large as any, so the most is reserved for it.
    const bytes = declaredLength(headers) ?? Math.min(maxBodyBytes, maxBufferedBytes);
    if (this.#reservedBytes + bytes > maxBufferedBytes) {
      throw new UnavailableError(
        'buffer_full',
        `the bodies being read fill maxBufferedBytes (${maxBufferedBytes})`,
      );
    }
    const startedAt = performance.now();
    const endsAt = Math.min(startedAt + bodyTimeoutMs, deadline);
    const request = new BodyRequest(maxBodyBytes);
    const reading = delivery.readBody(request);
    return new Promise((resolve, reject) => {
      // Limited here too, so that an adapter which is deaf to the signal cannot hang the delivery.
      const timer = new Timer(endsAt, () => {
        const late = bodyTimeout(endsAt - startedAt);
        request.abort(late);
        end(late);
      });
      const end = (error: unknown, body?: Uint8Array): void => {
        if (request.isEnded) return;
        request.isEnded = true;
        this.#reservedBytes -= bytes;
        timer.clear();
        if (body !== undefined) resolve(body);
        else reject(error);
      };
      reading.then(
        (body) =>
          body.byteLength <= maxBodyBytes ? end(undefined, body) : end(tooLarge(body, maxBodyBytes)),
        end,
      );
      this.#reservedBytes += bytes;
    });
  }
}

/** What an adapter is asked for, and whether it has answered or was given up. */
class BodyRequest extends LazyAbort {
  readonly maxBytes: number;
  isEnded = false;

  constructor(maxBytes: number) {
    super();
    this.maxBytes = maxBytes;
  }
}

function bodyTimeout(ms: number): RequestError {
  return new RequestError('body_timeout', `the body did not arrive within ${Math.round(ms)} ms`);
}

function tooLarge({ byteLength }: Uint8Array, maxBodyBytes: number): RequestError {
  return new RequestError(
    'body_too_large',
    `the body has ${byteLength} bytes; maxBodyBytes is ${maxBodyBytes}`,
  );
}
