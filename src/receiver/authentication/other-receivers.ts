import { findKey, type HmacKey } from './hmac-key.ts';

/** A program has a few receivers. One that creates them without end must not hold all their keys. */
const MAX_RECEIVERS = 10;

/** A stranger can send wrong signatures in any number. The log prints as many lines of one code. */
const SEARCHES_PER_WINDOW = 5;
const WINDOW_MS = 60_000;

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
 * Looks for another receiver of this process when no key of one has made a signature: two are mounted on one
 * path, or the wrong one is. A key that a function returns is not looked at, because asking takes time.
 */
export class OtherReceivers {
  #searches = 0;
  #endsAt = 0;

  /** Returns a text for the message of a mismatch; it is empty if the key was not found or not looked for. */
  advice(rawBody: Uint8Array, signature: string): string {
    if (!this.#admit() || !haveKey(rawBody, signature)) return '';
    return (
      '; another receiver of this process has the key of this signature: ' +
      'give each webhook a path of its own, or give one receiver both keys'
    );
  }

  #admit(): boolean {
    const now = performance.now();
    if (now >= this.#endsAt) {
      this.#searches = 0;
      this.#endsAt = now + WINDOW_MS;
    }
    this.#searches += 1;
    return this.#searches <= SEARCHES_PER_WINDOW;
  }
}

/** Returns true if a receiver has the key. The caller is none of them: its keys did not match. */
function haveKey(rawBody: Uint8Array, signature: string): boolean {
  return keysOfReceivers.some((kept) => findKey(rawBody, signature, kept.deref() ?? []) !== -1);
}
