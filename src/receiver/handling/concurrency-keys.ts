import type { ClaimServices } from '../dedupe/claim.ts';
import { keyId } from '../dedupe/claim-id.ts';
import { ConfigurationError } from '../errors.ts';
import type { Activity } from '../timing/activity.ts';
import { requestsAreIsolated } from '../timing/isolated-requests.ts';
import { dropPromise, typeNameOf } from '../values/foreign-values.ts';
import { type HeldKey, KeyQueue, type KeyRequest } from './key-queue.ts';

/** Longer keys would fill errors and logs; ids of resources are much shorter. */
const MAX_KEY_LENGTH = 1_000;

/** The concurrency keys that the handlers of one receiver have, or wait for. */
export class ConcurrencyKeys {
  readonly #services: ClaimServices;
  readonly #activity: Activity;
  #queues = new Map<string, KeyQueue>();

  constructor(services: ClaimServices, activity: Activity) {
    this.#services = services;
    this.#activity = activity;
  }

  /** Acquires a key of a handler: see {@link KeyQueue.acquire}. */
  acquire(handler: string, key: string, request: KeyRequest): Promise<HeldKey> {
    const id = keyId(handler, key);
    // Such a request must not wait for one of another request, so the store alone decides.
    if (requestsAreIsolated) return this.#createQueue(id, handler, () => {}).acquire(request);
    let queue = this.#queues.get(id);
    if (queue === undefined) {
      queue = this.#createQueue(id, handler, () => this.#remove(id));
      this.#queues.set(id, queue);
    }
    return queue.acquire(request);
  }

  #createQueue(id: string, handler: string, onIdle: () => void): KeyQueue {
    return new KeyQueue({ id, handler }, this.#services, this.#activity, onIdle);
  }

  #remove(id: string): void {
    this.#queues.delete(id);
    // A new Map ends V8's chain of old tables: see the claims of the memory store.
    if (this.#queues.size === 0) this.#queues = new Map();
  }
}

/** Checks what `concurrencyKey` returned. Throws {@link ConfigurationError}. */
export function checkKey(key: unknown): string {
  if (typeof key === 'string' && key !== '' && key.length <= MAX_KEY_LENGTH) return key;
  dropPromise(key);
  // The key is a part of the event, so the message does not show it.
  const got = typeof key === 'string' ? `a string of ${key.length}` : typeNameOf(key);
  throw new ConfigurationError(
    `concurrencyKey must return a non-empty string of at most ${MAX_KEY_LENGTH} characters, got ${got}`,
  );
}
