import { type BodyLimits, BodyReader } from '../request/body.ts';
import type { BodyMemory } from '../request/body-memory.ts';
import type { Delivery } from '../request/delivery.ts';
import type { HeaderValues } from '../request/headers.ts';
import { checkDeclaredLength, checkEncoding, checkMethod } from '../request/refusals.ts';
import type { CredentialsCheck } from './credentials.ts';
import { checkSignature, readSignature } from './signature.ts';
import type { KeySource } from './signing-keys.ts';

/** The settings that authentication needs. */
export interface AuthenticationSettings extends BodyLimits {
  readonly keys: KeySource;
  readonly signatureHeader: string;
  readonly credentials: CredentialsCheck;
  readonly deadlineMs: number;
}

/** How far the authentication of a delivery has come. */
export interface AuthenticationProgress {
  /** When the delivery is answered, by the monotonic clock. */
  readonly deadline: number;
  /** Whether the body has been read to its end. */
  bodyRead: boolean;
  /** Which of the signing keys matched, from 0. */
  keyIndex: number | undefined;
}

/** An authentic body with its headers. */
export interface Authentic {
  readonly rawBody: Uint8Array;
  readonly headers: HeaderValues;
}

/** Lets authentic deliveries through, and nothing else. */
export class Authenticator {
  readonly #settings: AuthenticationSettings;
  readonly #bodies: BodyReader;
  readonly #bodyMemory: BodyMemory;

  constructor(settings: AuthenticationSettings, bodyMemory: BodyMemory) {
    this.#settings = settings;
    this.#bodies = new BodyReader(settings, bodyMemory);
    this.#bodyMemory = bodyMemory;
  }

  /** Reads a delivery, whose declared length is `length`, and checks all of it; rejects with the error that refuses it. */
  async authenticate(
    delivery: Delivery,
    headers: HeaderValues,
    length: number | undefined,
    progress: AuthenticationProgress,
  ): Promise<Authentic> {
    const signature = this.#admit(delivery, headers, length);
    const { bytes: rawBody, share } = await this.#bodies.read(delivery, progress.deadline);
    progress.bodyRead = true;
    try {
      const keys = await this.#settings.keys(progress.deadline);
      progress.keyIndex = checkSignature(rawBody, signature, keys);
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
