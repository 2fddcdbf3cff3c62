import type { HeaderValues } from '../request/headers.ts';
import type { SentHeaders, SingleHeaders } from '../request/single-headers.ts';
import type { Awaitable } from '../timing/awaitable.ts';
import type { Key } from './key.ts';
import type { KeySource, SigningKeys } from './signing-keys.ts';

/** How a sender signs: the result of `hmacSignature`, or a function of your own. */
export type Signature = SignatureScheme | CustomSignature;

/** A signature that `verify` checks, for example by a public key. */
export interface CustomSignature {
  /**
   * Returns true if this key signed the request. It is called for each signing key until one matches. If it
   * throws or is late, the delivery is answered 503.
   */
  readonly verify: (request: {
    readonly rawBody: Uint8Array;
    readonly headers: SingleHeaders;
    readonly key: Key;
  }) => Awaitable<boolean>;
}

/** A scheme of signatures; `hmacSignature` creates one. */
export interface SignatureScheme {
  /** Creates the check of one receiver. Throws ConfigurationError for a wrong key. */
  createCheck(signingKey: SigningKeys, advice: SignatureAdvice): SignatureCheck;
}

/** What errors say beside the problem. */
export interface SignatureAdvice {
  /** True if the receiver's option `signatureHeader` can name another header. */
  readonly canSetHeader: boolean;
  /** The provider's name, for errors of other receivers; undefined if they must not look for this check. */
  readonly provider?: string | undefined;
}

/** Checks the signatures of one receiver's deliveries. */
export interface SignatureCheck {
  /** The provider's name in errors of other receivers. */
  readonly provider?: string | undefined;
  /** Reads the signature from the head of a delivery. Throws SignatureError. */
  readHead(headers: HeaderValues): SentSignature;
  readonly keys: KeySource<SigningKeySet>;
  /** Returns true if a signature was sent, right or wrong. */
  isSent(headers: HeaderValues): boolean;
}

/** A signature as it was sent. */
export interface SentSignature {
  readonly headers: SentHeaders;
  readonly signatures: readonly string[];
  /** When the request was signed, in milliseconds since the epoch, if that is signed too. */
  readonly signedAtMs: number | undefined;
  /** The most by which that time may differ from the clock, either way. */
  readonly toleranceMs: number;
  /** Returns the signed bytes; undefined if the body alone is signed. */
  readonly content: ((rawBody: Uint8Array) => readonly (string | Uint8Array)[]) | undefined;
}

/** The keys that are valid for one delivery. */
export interface SigningKeySet {
  /** Returns the index of the key that signed the body. Throws SignatureError if none did. */
  verify(rawBody: Uint8Array, sent: SentSignature): Awaitable<number>;
}
