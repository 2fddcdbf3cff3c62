import type { Delivery } from './delivery.ts';
import type { HeaderValues } from './headers.ts';
import type { Settings } from './options.ts';
import { checkDeclaredLength, checkEncoding, checkMethod } from './request.ts';
import { checkSignature, readSignature } from './signature.ts';

/** Lets authentic deliveries through, and nothing else. */
export class Authenticator {
  readonly #settings: Settings;

  constructor(settings: Settings) {
    this.#settings = settings;
  }

  /**
   * The cheap checks, which come before a byte of the body is buffered; `length` is the declared length. Returns the signature that the
   * body has to have; throws the error that refuses any other delivery.
   */
  admit({ method }: Delivery, headers: HeaderValues, length: number | undefined): string {
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
