import { types } from 'node:util';
import { ConfigurationError, SignatureError } from '../errors.ts';
import type { HeaderValues } from '../request/headers.ts';
import { SentHeaders, type SingleHeaders } from '../request/single-headers.ts';
import { dropPromise, isInstance, messageOf, show } from '../values/foreign-values.ts';
import { ofAccount } from './account.ts';
import { findKey, type HmacAlgorithm, type HmacEncoding, HmacKey, importText } from './hmac-key.ts';
import { type Key, readKeys } from './key.ts';
import { OtherReceivers, rememberKeys } from './other-receivers.ts';
import { keyAdvice, missingMessage } from './signature-advice.ts';
import type { SentSignature, SignatureScheme, SigningKeySet } from './signature-check.ts';
import { digestForm, formOf, isDigest } from './signature-form.ts';
import { createKeySource, type ImportKeys } from './signing-keys.ts';

/** The parts of a signature, as {@link HmacSignatureOptions.read} finds them in the headers. */
export interface ReadSignature {
  /** The signatures that were sent; one that matches is enough. More than 16 are refused. */
  readonly signatures: readonly string[];
  /** If the time is signed: the text of 1 to 12 digits, in seconds since the epoch. */
  readonly time?: string | undefined;
  /** Returns the parts that were signed, in their order; the body alone by default. */
  readonly content?: ((rawBody: Uint8Array) => readonly (string | Uint8Array)[]) | undefined;
}

/** Options of {@link hmacSignature}. */
export interface HmacSignatureOptions {
  /** Finds the signature in the headers. A header that is missing gives no signatures. */
  readonly read: (headers: SingleHeaders) => ReadSignature;
  /**
   * Turns a signing key into the bytes of the HMAC's key. By default a text stands for its bytes in UTF-8.
   * Throw a ConfigurationError for a wrong key.
   */
  readonly key?: ((key: Key) => Uint8Array) | undefined;
  /** How signatures are written. Hex digits may be in either case. */
  readonly encoding: HmacEncoding;
  /** `sha256` by default. */
  readonly algorithm?: HmacAlgorithm | undefined;
  /** The most by which a signed time may differ from the clock, either way; 300,000 by default. */
  readonly toleranceMs?: number | undefined;
}

/** The bytes of each digest. */
export const DIGEST_BYTES: Readonly<Record<HmacAlgorithm, number>> = {
  sha1: 20,
  sha256: 32,
  sha384: 48,
  sha512: 64,
};

/** No sender has more keys at once. A stranger can send any number, and each is compared. */
const MAX_SIGNATURES = 16;

const TIME = /^\d{1,12}$/;

type Scheme = Required<Omit<HmacSignatureOptions, 'key'>> & Pick<HmacSignatureOptions, 'key'>;

/** Signatures by HMAC. The options must have been checked. */
export class HmacScheme implements SignatureScheme {
  readonly #scheme: Scheme;

  constructor({ algorithm = 'sha256', toleranceMs = 300_000, ...given }: HmacSignatureOptions) {
    this.#scheme = { algorithm, toleranceMs, ...given };
  }

  createCheck: SignatureScheme['createCheck'] = (signingKey, advice) => {
    const others = new OtherReceivers();
    const isFixed = typeof signingKey !== 'function';
    const importKeys: ImportKeys<SigningKeySet> = (keys, name, account) => {
      const imported = readKeys(keys, name).map((key) => this.#importKey(key));
      if (isFixed) rememberKeys(imported);
      return new HmacKeySet(imported, account, others);
    };
    const { provider } = advice;
    return {
      provider,
      keys: createKeySource(signingKey, importKeys),
      readHead: (headers) =>
        this.#readHead(
          headers,
          (missing) => missingMessage(headers, missing, advice) + others.adviceOnMissing(headers),
        ),
      isSent: (headers) => {
        try {
          // The message of a receiver would search for others, which calls this method of each.
          return this.#readHead(headers, String).signatures.length > 0;
        } catch {
          return false;
        }
      },
    };
  };

  #importKey(key: Key): HmacKey {
    const { algorithm, encoding, key: toBytes } = this.#scheme;
    const isUsual = toBytes === undefined && algorithm === 'sha256' && encoding === 'hex';
    if (isUsual && typeof key === 'string') return importText(key);
    const bytes = toBytes === undefined ? toUtf8(key) : checkBytes(toBytes(key));
    return new HmacKey(bytes, algorithm, encoding);
  }

  /** `messageFor` returns the message of the error if a header is missing. */
  #readHead(values: HeaderValues, messageFor: (missing: string) => string): SentSignature {
    const headers = new SentHeaders(values);
    const { signatures, time, content } = this.#read(headers);
    const { encoding, toleranceMs } = this.#scheme;
    const wellFormed = signatures.filter((signature) => this.#isDigest(signature));
    if (wellFormed.length === 0 && headers.missing !== undefined)
      throw new SignatureError('signature_missing', messageFor(headers.missing));
    if (wellFormed.length === 0 || headers.isTooLong) throw this.#malformed(headers, signatures);
    if (signatures.length > MAX_SIGNATURES)
      throw malformed(
        `${signatures.length} signatures were sent, and at most ${MAX_SIGNATURES} are compared`,
      );
    if (time !== undefined && !TIME.test(time))
      throw malformed(
        `the signed time must be 1 to 12 digits, in seconds since the epoch, and is ${formOf(time)}`,
      );
    return {
      headers,
      signatures: encoding === 'hex' ? wellFormed.map((hex) => hex.toLowerCase()) : wellFormed,
      signedAtMs: time === undefined ? undefined : Number(time) * 1_000,
      toleranceMs,
      content,
    };
  }

  /** Reads the headers by the function of the provider, which may fail on those of a stranger. */
  #read(headers: SentHeaders): ReadSignature {
    let found: ReadSignature;
    try {
      found = this.#scheme.read(headers);
    } catch (error) {
      if (isInstance(error, SignatureError) || isInstance(error, ConfigurationError)) throw error;
      throw malformed(`the signature could not be read: ${messageOf(error)}`, error);
    }
    if (Array.isArray(found?.signatures)) return found;
    // A function that is async by mistake returns a promise, and one that rejects would end the process.
    dropPromise(found);
    throw new ConfigurationError(
      `read of hmacSignature must return { signatures: [...] }, got ${show(found)}`,
    );
  }

  #isDigest(text: unknown): text is string {
    const { algorithm, encoding } = this.#scheme;
    return isDigest(text, DIGEST_BYTES[algorithm], encoding);
  }

  #malformed(headers: SentHeaders, [first]: readonly string[]): SignatureError {
    const { algorithm, encoding } = this.#scheme;
    const form = digestForm(DIGEST_BYTES[algorithm], encoding);
    const { firstAsked = '', firstValue = '' } = headers;
    // `get` cuts a long value, so the signature may be its beginning only.
    const isBare = first === '' ? firstValue === '' : first === firstValue.slice(0, first?.length);
    return malformed(
      isBare
        ? `the header "${firstAsked}" must hold ${form} only, and holds ${formOf(firstValue)}`
        : `the header "${firstAsked}" must hold a signature of ${form}, and holds ${formOf(firstValue)}`,
    );
  }
}

/** The keys of one delivery, or of all if they are fixed. */
class HmacKeySet implements SigningKeySet {
  readonly #keys: readonly HmacKey[];
  readonly #account: string | undefined;
  readonly #others: OtherReceivers;

  constructor(keys: readonly HmacKey[], account: string | undefined, others: OtherReceivers) {
    this.#keys = keys;
    this.#account = account;
    this.#others = others;
  }

  verify(rawBody: Uint8Array, { content, signatures }: SentSignature): number {
    const signed = content === undefined ? rawBody : signedBytes(content, rawBody);
    const keyIndex = findKey(signed, signatures, this.#keys);
    if (keyIndex !== -1) return keyIndex;
    const count = this.#keys.length;
    const problem =
      count === 1 ? 'does not match the signing key' : `matches none of the ${count} signing keys`;
    const whose = ofAccount(this.#account);
    const advice = `${this.#keys.map(keyAdvice).join('')}${this.#others.advice(signed, signatures)}`;
    throw new SignatureError(
      'signature_mismatch',
      `the signature ${problem}${whose}: the sender used another key, or the body was changed on its way${advice}`,
    );
  }
}

function toUtf8(key: Key): Uint8Array {
  return typeof key === 'string' ? Buffer.from(key) : key;
}

/** Checks what `key` of the provider returned: with an empty key, anybody could sign. */
function checkBytes(bytes: unknown): Uint8Array {
  if (types.isUint8Array(bytes) && bytes.length > 0) return bytes;
  throw new ConfigurationError('key of hmacSignature must return bytes, at least one, for each signing key');
}

/** Calls the function of the provider, which may fail on the body of a stranger. */
function signedBytes(content: NonNullable<SentSignature['content']>, rawBody: Uint8Array): Uint8Array {
  let parts: readonly (string | Uint8Array)[];
  try {
    parts = content(rawBody);
  } catch (error) {
    if (isInstance(error, SignatureError) || isInstance(error, ConfigurationError)) throw error;
    throw malformed(`the signed content could not be read: ${messageOf(error)}`, error);
  }
  if (Array.isArray(parts)) return joined(parts);
  dropPromise(parts);
  throw new ConfigurationError(`content of hmacSignature must return a list, got ${show(parts)}`);
}

function joined(parts: readonly (string | Uint8Array)[]): Uint8Array {
  return Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : part)));
}

function malformed(message: string, cause?: unknown): SignatureError {
  return new SignatureError('signature_malformed', message, { cause });
}
