import { BodyReader } from './body.ts';
import type { Delivery } from './delivery.ts';
import type { HeaderValues } from './headers.ts';
import { isPending } from './maybe-promise.ts';
import type { Settings } from './options.ts';
import { checkDeclaredLength, checkEncoding, checkMethod } from './request.ts';
import { checkSignature, readSignature } from './signature.ts';
import type { Trace } from './trace.ts';

/** Lets authentic bodies through, and nothing else. The cheap checks come before a byte of the body is buffered. */
export class Authenticator {
  readonly #settings: Settings;
  readonly #bodies: BodyReader;

  constructor(settings: Settings) {
    this.#settings = settings;
    this.#bodies = new BodyReader(settings);
  }

  /** Returns the body of an authentic delivery; throws the error that refuses any other. */
  async authenticate(delivery: Delivery, headers: HeaderValues, trace: Trace): Promise<Uint8Array> {
    const { credentials, signatureHeader, maxBodyBytes, keys } = this.#settings;
    checkMethod(delivery.method);
    credentials.check(headers);
    const signature = readSignature(headers, signatureHeader);
    checkEncoding(headers);
    checkDeclaredLength(headers, maxBodyBytes);
    const asked = keys(trace.deadline);
    const validKeys = isPending(asked) ? await asked : asked;
    const rawBody = await this.#bodies.read(delivery, headers, trace.deadline);
    trace.bodyRead = true;
    trace.keyIndex = checkSignature(rawBody, signature, validKeys);
    return rawBody;
  }

  /** The same for a body that has been read already. */
  async verify(rawBody: Uint8Array, headers: HeaderValues): Promise<void> {
    const { credentials, signatureHeader, keys, deadlineMs } = this.#settings;
    credentials.check(headers);
    const signature = readSignature(headers, signatureHeader);
    checkSignature(rawBody, signature, await keys(performance.now() + deadlineMs));
  }
}
