import { createHmac, createSecretKey, hash, type KeyObject } from 'node:crypto';

/** Of SHA-256, in bytes. */
const BLOCK = 64;
const DIGEST = 32;

/** Longer bodies cost more to copy than is saved. */
const MOST_COPIED_BYTES = 16_384;

/** Where inner and outer input are put together. */
const inner = Buffer.alloc(BLOCK + MOST_COPIED_BYTES);
const outer = Buffer.alloc(BLOCK + DIGEST);

/**
 * A key for HMAC-SHA256. For a body of usual size the two hashes of RFC 2104 are taken one by one over blocks that were
 * prepared from the key: that takes two thirds of the time of an object of `createHmac`, which also has to be collected.
 */
export class HmacKey {
  readonly #key: KeyObject;
  readonly #innerBlock: Uint8Array;
  readonly #outerBlock: Uint8Array;

  constructor(key: Uint8Array) {
    this.#key = createSecretKey(key);
    const block = new Uint8Array(BLOCK);
    block.set(key.length > BLOCK ? hash('sha256', key, 'buffer') : key);
    this.#innerBlock = block.map((byte) => byte ^ 0x36);
    this.#outerBlock = block.map((byte) => byte ^ 0x5c);
  }

  /** The HMAC of the body, in lower-case hex. */
  sign(body: Uint8Array): string {
    if (body.length > MOST_COPIED_BYTES) return createHmac('sha256', this.#key).update(body).digest('hex');
    inner.set(this.#innerBlock);
    inner.set(body, BLOCK);
    outer.set(this.#outerBlock);
    outer.write(hash('sha256', inner.subarray(0, BLOCK + body.length), 'binary'), BLOCK, 'binary');
    return hash('sha256', outer, 'hex');
  }
}
