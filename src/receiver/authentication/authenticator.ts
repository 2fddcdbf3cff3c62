import { type BodyLimits, BodyReader } from '../request/body.ts';
import type { BodyMemory } from '../request/body-memory.ts';
import type { Delivery } from '../request/delivery.ts';
import { checkDeclaredLength, checkEncoding, checkMethod, type RequestHead } from '../request/head.ts';
import type { HeaderValues } from '../request/headers.ts';
import { performance } from '../timing/process-clock.ts';
import type { CredentialsCheck } from './credentials.ts';
import { OtherReceivers } from './other-receivers.ts';
import { checkSignature, readSignature } from './signature.ts';
import type { KeySource } from './signing-keys.ts';

/** The settings of authentication. */
interface AuthenticationSettings extends BodyLimits {
  readonly signingKey: KeySource;
  readonly signatureHeader: string;
  readonly authentication: CredentialsCheck;
  readonly deadlineMs: number;
}

/** A body whose sender has been authenticated, with its headers. */
export interface Authentic {
  readonly rawBody: Uint8Array;
  readonly headers: HeaderValues;
  /** The index of the signing key that matched. */
  readonly keyIndex: number;
}

/** The result of `authenticate`. */
export type AuthenticationResult =
  | { readonly authentic: Authentic }
  /** `bodyRead` is true if the body was read to its end before the error. */
  | { readonly error: unknown; readonly bodyRead: boolean };

/** Authenticates deliveries: credentials, then the signature of the body. */
export class Authenticator {
  readonly #settings: AuthenticationSettings;
  readonly #bodies: BodyReader;
  readonly #bodyMemory: BodyMemory;
  readonly #otherReceivers = new OtherReceivers();

  constructor(settings: AuthenticationSettings, bodyMemory: BodyMemory) {
    this.#settings = settings;
    this.#bodies = new BodyReader(settings, bodyMemory);
    this.#bodyMemory = bodyMemory;
  }

  /**
   * Checks the head of a delivery, reads its body, and checks the signature. Body and keys must be there by
   * `bodyBy`, by the monotonic clock. Never rejects.
   */
  async authenticate(delivery: Delivery, head: RequestHead, bodyBy: number): Promise<AuthenticationResult> {
    let bodyRead = false;
    try {
      const signature = this.#checkHead(delivery, head);
      const { bytes: rawBody, share } = await this.#bodies.read(delivery, bodyBy);
      bodyRead = true;
      try {
        const keys = await this.#settings.signingKey(bodyBy);
        const keyIndex = checkSignature(rawBody, signature, keys, this.#otherReceivers);
        return { authentic: { rawBody, headers: head.headers, keyIndex } };
      } finally {
        this.#bodyMemory.release(share);
      }
    } catch (error) {
      return { error, bodyRead };
    }
  }

  /** Makes the cheap checks, before the body is buffered. Returns the sent signature. */
  #checkHead({ method }: Delivery, head: RequestHead): string {
    const { authentication, signatureHeader, maxBodyBytes } = this.#settings;
    checkMethod(method);
    authentication.check(head.headers);
    const signature = readSignature(head.headers, signatureHeader);
    checkEncoding(head);
    checkDeclaredLength(head, maxBodyBytes);
    return signature;
  }

  /** Checks a body that has been read already. */
  async verify(rawBody: Uint8Array, headers: HeaderValues): Promise<void> {
    const { authentication, signatureHeader, signingKey, deadlineMs } = this.#settings;
    authentication.check(headers);
    const signature = readSignature(headers, signatureHeader);
    checkSignature(rawBody, signature, await signingKey(performance.now() + deadlineMs));
  }
}
