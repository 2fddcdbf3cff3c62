import type { Trace } from '../handling/trace.ts';
import type { Settings } from '../options.ts';
import { BodyReader } from '../request/body.ts';
import type { BodyMemory } from '../request/body-memory.ts';
import type { Delivery } from '../request/delivery.ts';
import type { HeaderValues } from '../request/headers.ts';
import { checkDeclaredLength, checkEncoding, checkMethod } from '../request/refusals.ts';
import { checkSignature, readSignature } from './signature.ts';

/** An authentic body with its headers. */
export interface Authentic {
  readonly rawBody: Uint8Array;
  readonly headers: HeaderValues;
}

/** Lets authentic deliveries through, and nothing else. */
export class Authenticator {
  readonly #settings: Settings;
  readonly #bodies: BodyReader;
  readonly #bodyMemory: BodyMemory;

  constructor(settings: Settings, bodyMemory: BodyMemory) {
    this.#settings = settings;
    this.#bodies = new BodyReader(settings, bodyMemory);
    this.#bodyMemory = bodyMemory;
  }

  /** Reads a delivery, whose declared length is `length`, and checks all of it; rejects with the error that refuses it. */
  async authenticate(
    delivery: Delivery,
    headers: HeaderValues,
    length: number | undefined,
    trace: Trace,
  ): Promise<Authentic> {
    const signature = this.#admit(delivery, headers, length);
    const { bytes: rawBody, share } = await this.#bodies.read(delivery, trace.deadline);
    trace.bodyRead = true;
    try {
      const keys = await this.#settings.keys(trace.deadline);
      trace.keyIndex = checkSignature(rawBody, signature, keys);
      return { rawBody, headers };
    } finally {
      this.#bodyMemory.release(share);
    }
  }

  /** The cheap checks, before a byte of the body is buffered. Returns the signature that the body has to have. */
  #admit({ method }: Delivery, headers: HeaderValues, length: number | undefined): string {
    const { credentials, signatureHeader, maxBodyBytes } = this.#settings;
    checkMethod(method);
    credentials.check(headers);
    const signature = readSignature(headers, signatureHeader);
    checkEncoding(headers);
    checkDeclaredLength(length, maxBodyBytes);
    return signature;
  }

  /** All checks of a body that has been read already. */
  async verify(rawBody: Uint8Array, headers: HeaderValues): Promise<void> {
    const { credentials, signatureHeader, keys, deadlineMs } = this.#settings;
    credentials.check(headers);
    const signature = readSignature(headers, signatureHeader);
    checkSignature(rawBody, signature, await keys(performance.now() + deadlineMs));
  }
}
