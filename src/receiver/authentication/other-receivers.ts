import type { HeaderValues } from '../request/headers.ts';
import { performance } from '../timing/process-clock.ts';
import { show } from '../values/foreign-values.ts';
import { findKey, type HmacKey } from './hmac-key.ts';

/** The part of a receiver's signature check that tells whether a request is one of its sender. */
interface SenderCheck {
  readonly provider?: string | undefined;
  isSent(headers: HeaderValues): boolean;
}

/** A program has a few receivers. One that creates them without end must not hold all their keys. */
const MAX_RECEIVERS = 10;

/** A stranger can send wrong requests in any number, and a search costs an HMAC for each key. */
const SEARCH_EVERY_MS = 10_000;

/**
 * The fixed keys of the receivers that this process has created last. They are held weakly: a receiver that
 * nobody uses any more is forgotten.
 */
const keysOfReceivers: WeakRef<readonly HmacKey[]>[] = [];

/** The signature checks of those receivers. */
const checksOfReceivers: WeakRef<SenderCheck>[] = [];

/** Remembers the fixed keys of a receiver. `keys` must live as long as the receiver. */
export function rememberKeys(keys: readonly HmacKey[]): void {
  addTo(keysOfReceivers, keys);
}

/** Remembers and returns the check of a receiver. It must live as long as the receiver. */
export function rememberCheck<Check extends SenderCheck>(check: Check): Check {
  addTo(checksOfReceivers, check);
  return check;
}

function addTo<T extends object>(kept: WeakRef<T>[], one: T): void {
  // Workers with a compatibility date before May 2025 do not have it.
  if (typeof WeakRef === 'undefined') return;
  kept.push(new WeakRef(one));
  if (kept.length > MAX_RECEIVERS) kept.shift();
}

/**
 * Looks for another receiver of this process that would take the request: two may be mounted on one path, or
 * the wrong one may be mounted. Its methods return a text for the message of an error, which is empty if
 * nothing was found, or not looked for.
 */
export class OtherReceivers {
  #searchAt = 0;

  /**
   * After a mismatch: looks for the key that made the signature. Keys that a function returns are left out,
   * because the call takes time.
   */
  advice(signed: Uint8Array, signatures: readonly string[]): string {
    // None of them is the caller: its own keys did not match.
    const isKnown =
      this.#isTime() &&
      keysOfReceivers.some((kept) => findKey(signed, signatures, kept.deref() ?? []) !== -1);
    return isKnown ? '; another receiver of this process has the key: mount each on its own path' : '';
  }

  /** If the signature is missing: looks for one of another provider. */
  adviceOnMissing(headers: HeaderValues): string {
    // None of them is the caller: its own signature was not sent.
    const found = this.#isTime() && checksOfReceivers.find((kept) => kept.deref()?.isSent(headers))?.deref();
    if (!found) return '';
    return `; the request has a signature of ${show(found.provider)}, whose receiver this process has too: mount each on its own path`;
  }

  #isTime(): boolean {
    const now = performance.now();
    if (now < this.#searchAt) return false;
    this.#searchAt = now + SEARCH_EVERY_MS;
    return true;
  }
}
