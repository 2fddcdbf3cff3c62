import { SignatureError, UnavailableError } from '../errors.ts';
import { type BodyLimits, BodyReader } from '../request/body.ts';
import type { BodyMemory } from '../request/body-memory.ts';
import type { Delivery } from '../request/delivery.ts';
import { checkDeclaredLength, checkEncoding, checkMethod, type RequestHead } from '../request/head.ts';
import type { HeaderValues } from '../request/headers.ts';
import { performance } from '../timing/process-clock.ts';
import { withTimeLimit } from '../timing/time-limit.ts';
import { type AccountOption, readAccount } from './account.ts';
import type { CredentialsCheck } from './credentials.ts';
import type { SentSignature, SignatureCheck } from './signature-check.ts';

/** The settings of authentication. */
interface AuthenticationSettings extends BodyLimits {
  readonly account: AccountOption | undefined;
  readonly signature: SignatureCheck;
  readonly authentication: CredentialsCheck;
  readonly deadlineMs: number;
  readonly now: () => number;
}

/** A body whose sender has been authenticated, with its headers. */
export interface Authentic {
  readonly rawBody: Uint8Array;
  readonly headers: HeaderValues;
  /** The account of the sender; undefined for a receiver of one account. */
  readonly account: string | undefined;
  /** The index of the signing key that matched. */
  readonly keyIndex: number;
  /** True if the sender has signed the time as well: an old copy of the request is refused. */
  readonly isTimed: boolean;
}

/** The result of `authenticate`. */
export type AuthenticationResult =
  | { readonly authentic: Authentic }
  /** `bodyRead` is true if the body was read to its end before the error. */
  | { readonly error: unknown; readonly bodyRead: boolean };

/** The sender as the head of a request names it, before anything is authentic. */
interface SenderInHead {
  readonly account: string | undefined;
  readonly sent: SentSignature;
}

/** Authenticates deliveries: credentials, then the signature of the body. */
export class Authenticator {
  readonly #settings: AuthenticationSettings;
  readonly #bodies: BodyReader;
  readonly #bodyMemory: BodyMemory;

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
      const { account, sent } = this.#checkHead(delivery, head);
      const { bytes: rawBody, share } = await this.#bodies.read(delivery, bodyBy);
      bodyRead = true;
      try {
        const fetched = this.#settings.signature.keys(bodyBy, account);
        // Strangers can send bodies of any account, and the keys of accounts are fetched in turns.
        const isInTurn = account !== undefined && 'then' in fetched;
        const keys = await (isInTurn ? this.#bodyMemory.whileWaiting(share, fetched) : fetched);
        const found = keys.verify(rawBody, sent);
        const keyIndex = typeof found === 'number' ? found : await inTime(found, bodyBy);
        checkSignedTime(sent, this.#settings.now());
        const isTimed = sent.signedAtMs !== undefined;
        return { authentic: { rawBody, headers: head.headers, account, keyIndex, isTimed } };
      } finally {
        this.#bodyMemory.release(share);
      }
    } catch (error) {
      return { error, bodyRead };
    }
  }

  /** Makes the cheap checks, before the body is buffered. */
  #checkHead({ method, url }: Delivery, head: RequestHead): SenderInHead {
    checkMethod(method);
    const sender = this.#readSender(head.headers, url);
    checkEncoding(head);
    checkDeclaredLength(head, this.#settings);
    return sender;
  }

  #readSender(headers: HeaderValues, url: string | undefined): SenderInHead {
    const { account, authentication, signature } = this.#settings;
    authentication.check(headers);
    return {
      account: account && readAccount(account, headers, url),
      sent: signature.readHead(headers),
    };
  }

  /** Checks a body that has been read already. */
  async verify(
    rawBody: Uint8Array,
    headers: HeaderValues,
    url: string | undefined,
  ): Promise<Pick<Authentic, 'account' | 'isTimed'>> {
    const { signature, deadlineMs, now } = this.#settings;
    const { account, sent } = this.#readSender(headers, url);
    const by = performance.now() + deadlineMs;
    const keys = await signature.keys(by, account);
    await inTime(Promise.resolve(keys.verify(rawBody, sent)), by);
    checkSignedTime(sent, now());
    return { account, isTimed: sent.signedAtMs !== undefined };
  }
}

/** The function of a provider that verifies signatures must not hold up the answer. */
function inTime<T>(found: PromiseLike<T>, by: number): Promise<T> {
  const late = () =>
    new UnavailableError('keys_unavailable', 'verify of the provider did not answer in time');
  return withTimeLimit(Promise.resolve(found), Math.max(0, by - performance.now()), late);
}

/** Throws {@link SignatureError} for a signed time that is too far from the clock. */
function checkSignedTime({ signedAtMs, toleranceMs }: SentSignature, now: number): void {
  if (signedAtMs === undefined) return;
  // Whole seconds on both sides, as senders count.
  const aheadMs = signedAtMs - Math.floor(now / 1_000) * 1_000;
  if (Math.abs(aheadMs) <= toleranceMs) return;
  const difference = aheadMs > 0 ? `${aheadMs} ms ahead of` : `${-aheadMs} ms behind`;
  throw new SignatureError(
    'signature_expired',
    `the request was signed at a time ${difference} this machine's clock, and ${toleranceMs} ms are allowed: ` +
      'it is an old copy of a request, or one of the two clocks is wrong',
  );
}
