import type { Delivery } from './delivery.ts';
import { RequestError, UnavailableError } from './errors.ts';
import type { HeaderValues } from './headers.ts';
import { declaredLength } from './request.ts';

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
   * Throws {@link RequestError} for a body that is too large, too slow or cut short, and {@link UnavailableError} when
   * the memory for bodies is taken.
   */
  async read(delivery: Delivery, headers: HeaderValues, timeLeftMs: number): Promise<Uint8Array> {
    const { maxBodyBytes, maxBufferedBytes, bodyTimeoutMs } = this.#limits;
    // A body of undeclared length may turn out as large as any, so the most is reserved for it.
    const bytes = declaredLength(headers) ?? Math.min(maxBodyBytes, maxBufferedBytes);
    if (this.#reservedBytes + bytes > maxBufferedBytes) {
      throw new UnavailableError(
        'buffer_full',
        `the bodies being read fill maxBufferedBytes (${maxBufferedBytes})`,
      );
    }
    this.#reservedBytes += bytes;
    try {
      return await readInTime(delivery, maxBodyBytes, Math.min(bodyTimeoutMs, timeLeftMs));
    } finally {
      this.#reservedBytes -= bytes;
    }
  }
}

async function readInTime(delivery: Delivery, maxBytes: number, timeLimitMs: number): Promise<Uint8Array> {
  const controller = new AbortController();
  const aborted = new Promise<never>((_, reject) => {
    controller.signal.addEventListener('abort', () => reject(controller.signal.reason));
  });
  const late = new RequestError(
    'body_timeout',
    `the body did not arrive within ${Math.round(timeLimitMs)} ms`,
  );
  const timer = setTimeout(() => controller.abort(late), timeLimitMs);
  try {
    // Raced, so that an adapter which is deaf to the signal cannot hang the delivery.
    const body = await Promise.race([delivery.readBody({ maxBytes, signal: controller.signal }), aborted]);
    if (body.byteLength <= maxBytes) return body;
    throw new RequestError(
      'body_too_large',
      `the body has ${body.byteLength} bytes; maxBodyBytes is ${maxBytes}`,
    );
  } finally {
    clearTimeout(timer);
  }
}
