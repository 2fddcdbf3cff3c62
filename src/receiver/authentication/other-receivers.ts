import { performance } from '../timing/process-clock.ts';
import { findKey, type HmacKey } from './hmac-key.ts';

/** A program has a few receivers. One that creates them without end must not hold all their keys. */
const MAX_RECEIVERS = 10;

/** A stranger can send wrong signatures in any number, and a search costs an HMAC for each key. */
const SEARCH_EVERY_MS = 10_000;

/**
 * The fixed keys of the receivers that this process has created last. They are held weakly: a receiver that
 * nobody uses any more is forgotten.
 */
const keysOfReceivers: WeakRef<readonly HmacKey[]>[] = [];

/** Remembers the fixed keys of a receiver. `keys` must live as long as the receiver. */
export function rememberKeys(keys: readonly HmacKey[]): void {
  // Workers with a compatibility date before May 2025 do not have it.
  if (typeof WeakRef === 'undefined') return;
  keysOfReceivers.push(new WeakRef(keys));
  if (keysOfReceivers.length > MAX_RECEIVERS) keysOfReceivers.shift();
}

/**
 * Looks for another receiver of this process whose key made the signature: two may be mounted on one path, or
 * the wrong one may be mounted. Keys that a function returns are left out, because the call takes time.
 */
export class OtherReceivers {
  #searchAt = 0;

  /** Returns a text for the message of a mismatch; it is empty if the key was not found or not looked for. */
  advice(signed: Uint8Array, signatures: readonly string[]): string {
    const now = performance.now();
    if (now < this.#searchAt) return '';
    this.#searchAt = now + SEARCH_EVERY_MS;
    // None of them is the caller: its own keys did not match.
    const isKnown = keysOfReceivers.some((kept) => findKey(signed, signatures, kept.deref() ?? []) !== -1);
    return isKnown ? '; another receiver of this process has the key: mount each on its own path' : '';
  }
}
