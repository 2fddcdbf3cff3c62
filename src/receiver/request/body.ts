import { RequestError, type UnavailableError } from '../errors.ts';
import { performance } from '../timing/process-clock.ts';
import { Timer } from '../timing/timer.ts';
import { isInstance } from '../values/foreign-values.ts';
import type { BodyMemory, BodyShare } from './body-memory.ts';
import { checkBodySize, cutBodyTooLarge, type SizeLimit } from './body-size.ts';
import type { BodyOptions, Delivery } from './delivery.ts';
import { isRawBody, type RawBody, toBytes } from './raw-body.ts';

/** The limits of one body. */
export interface BodyLimits extends SizeLimit {
  readonly bodyTimeoutMs: number;
}

/** A body that has arrived whole. */
interface ReceivedBody {
  readonly bytes: Uint8Array;
  /** Release it once the signature has been checked. */
  readonly share: BodyShare;
}

/** Reads bodies. Size and time are limited for each body, and memory for all of them together. */
export class BodyReader {
  readonly #limits: BodyLimits;
  readonly #memory: BodyMemory;

  constructor(limits: BodyLimits, memory: BodyMemory) {
    this.#limits = limits;
    this.#memory = memory;
  }

  /**
   * Reads the body of a delivery, until `deadline` (by the monotonic clock) at the latest. Rejects with
   * {@link RequestError} for a body that is too large, too slow or cut short, and with
   * {@link UnavailableError} when the memory for bodies is full.
   */
  async read(delivery: Delivery, deadline: number): Promise<ReceivedBody> {
    const { maxBodyBytes } = this.#limits;
    const share = this.#memory.open((reason) => options.abort(reason));
    const options = new AbortableReading(maxBodyBytes, (heldBytes) => this.#memory.grow(share, heldBytes));
    try {
      const reading = delivery.readBody(options);
      const body = isRawBody(reading) ? reading : await this.#wait(reading, options, deadline);
      const bytes = toBytes(body, 'the result of readBody');
      checkBodySize(bytes.byteLength, this.#limits);
      if (!this.#memory.finish(share, bytes.byteLength)) throw this.#memory.fullError();
      return { bytes, share };
    } catch (error) {
      this.#memory.release(share);
      throw error;
    }
  }

  /**
   * Waits no longer than the limits allow, so that an adapter that ignores the signal cannot hang the
   * delivery. An adapter that stops at the limit does not know what the sender sends, so its error is
   * replaced.
   */
  async #wait(reading: Promise<RawBody>, options: AbortableReading, deadline: number): Promise<RawBody> {
    const now = performance.now();
    const limitMs = Math.max(0, Math.min(this.#limits.bodyTimeoutMs, deadline - now));
    const timer = new Timer(now + limitMs, () => options.abort(bodyTimeout(limitMs)));
    try {
      return await Promise.race([reading, options.untilAborted()]);
    } catch (error) {
      const isTooLarge = isInstance(error, RequestError) && error.code === 'body_too_large';
      throw isTooLarge ? cutBodyTooLarge(this.#limits, error) : error;
    } finally {
      timer.clear();
    }
  }
}

/** The options of one reading of a body, which the receiver can abort. */
class AbortableReading implements BodyOptions {
  readonly maxBytes: number;
  readonly onProgress: (heldBytes: number) => void;
  readonly #controller = new AbortController();
  #abortReason: Error | undefined;
  #reject: ((reason: Error) => void) | undefined;

  constructor(maxBytes: number, onProgress: (heldBytes: number) => void) {
    this.maxBytes = maxBytes;
    this.onProgress = onProgress;
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /** Rejects when the receiver gives up on the body, or has given up before. */
  untilAborted(): Promise<never> {
    return new Promise((_resolve, reject) => {
      this.#reject = reject;
      if (this.#abortReason !== undefined) reject(this.#abortReason);
    });
  }

  abort(reason: RequestError | UnavailableError): void {
    this.#controller.abort(reason);
    this.#abortReason ??= reason;
    this.#reject?.(reason);
  }
}

function bodyTimeout(ms: number): RequestError {
  return new RequestError('body_timeout', `the body did not arrive within ${Math.round(ms)} ms`);
}
