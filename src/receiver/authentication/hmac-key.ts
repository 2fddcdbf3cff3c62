import { isUtf8 } from 'node:buffer';
import crypto, { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from 'node:crypto';
import { ConfigurationError } from '../errors.ts';

// An import by name would fail in Node.js 18 before this code can say why.
const { hash } = crypto;
if (typeof hash !== 'function') {
  throw new ConfigurationError('posthorn needs Node.js 20.19 or later');
}

/** Sizes of SHA-256, in bytes. */
const BLOCK = 64;
const DIGEST = 32;

/** Copying a longer body costs more time than it saves. */
const MAX_COPIED_BYTES = 16_384;

/** The inputs of the inner and the outer hash. */
const inner = Buffer.alloc(BLOCK + MAX_COPIED_BYTES);
const outer = Buffer.alloc(BLOCK + DIGEST);

/** The hash of an HMAC. */
export type HmacAlgorithm = 'sha1' | 'sha256' | 'sha384' | 'sha512';

/** How the bytes of an HMAC are written: hex in lower case, or base64 with padding (RFC 4648). */
export type HmacEncoding = 'hex' | 'base64';

/**
 * A key for HMAC. For HMAC-SHA256 of a body of usual size it computes the two hashes of RFC 2104 over blocks
 * that were prepared from the key. That takes two thirds of the time of `createHmac` (`bench/micro/verify.js`
 * compares the two).
 */
export class HmacKey {
  readonly #algorithm: HmacAlgorithm;
  readonly #encoding: HmacEncoding;
  readonly #key: KeyObject;
  readonly #innerBlock: Uint8Array;
  readonly #outerBlock: Uint8Array;

  constructor(key: Uint8Array, algorithm: HmacAlgorithm = 'sha256', encoding: HmacEncoding = 'hex') {
    this.#algorithm = algorithm;
    this.#encoding = encoding;
    this.#key = createSecretKey(key);
    const block = new Uint8Array(BLOCK);
    block.set(key.length > BLOCK ? hash('sha256', key, 'buffer') : key);
    this.#innerBlock = block.map((byte) => byte ^ 0x36);
    this.#outerBlock = block.map((byte) => byte ^ 0x5c);
  }

  /** Returns the HMAC of the body. */
  sign(body: Uint8Array): string {
    const isFast = this.#algorithm === 'sha256' && body.length <= MAX_COPIED_BYTES;
    if (!isFast) return createHmac(this.#algorithm, this.#key).update(body).digest(this.#encoding);
    inner.set(this.#innerBlock);
    inner.set(body, BLOCK);
    outer.set(this.#outerBlock);
    outer.write(hash('sha256', inner.subarray(0, BLOCK + body.length), 'binary'), BLOCK, 'binary');
    return hash('sha256', outer, this.#encoding);
  }

  /** The key as text; undefined if its bytes are not UTF-8. */
  get text(): string | undefined {
    const bytes = this.#key.export();
    return isUtf8(bytes) ? bytes.toString('utf8') : undefined;
  }
}

/**
 * The key of the last call: callers of `sign` and `verifySignature` pass the same key with each call, and
 * importing it takes longer than the HMAC of a small body (`bench/micro/verify.js`).
 */
let lastImported: { readonly text: string; readonly key: HmacKey } | undefined;

/** Imports the key of a text in UTF-8, for HMAC-SHA256 in hex. */
export function importText(text: string): HmacKey {
  if (lastImported?.text !== text) lastImported = { text, key: new HmacKey(Buffer.from(text)) };
  return lastImported.key;
}

/**
 * Returns the index of the key that made one of the signatures, or -1. Every signature is compared with that
 * of every key until one matches, each in constant time.
 */
export function findKey(body: Uint8Array, signatures: readonly string[], keys: readonly HmacKey[]): number {
  const given = signatures.map((signature) => Buffer.from(signature, 'latin1'));
  return keys.findIndex((key) => {
    const expected = Buffer.from(key.sign(body), 'latin1');
    return given.some((each) => each.length === expected.length && timingSafeEqual(expected, each));
  });
}
