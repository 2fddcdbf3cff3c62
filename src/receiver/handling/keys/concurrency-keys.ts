import { keyId } from '../../dedupe/claim-id.ts';
import { ConfigurationError } from '../../errors.ts';
import { Activity } from '../../timing/activity.ts';
import { requestsAreIsolated } from '../../timing/isolated-requests.ts';
import { TransientMap } from '../../timing/transient-map.ts';
import { dropPromise, typeNameOf } from '../../values/foreign-values.ts';
import { KeyQueue, type KeyServices } from './key-queue.ts';
import type { HeldKey, KeyRequest } from './key-wait.ts';

/** Longer keys would fill errors and logs; ids of resources are much shorter. */
const MAX_KEY_LENGTH = 1_000;

/** The concurrency keys that the handlers of one receiver have, or wait for. */
export class ConcurrencyKeys {
  readonly #services: KeyServices;
  /** Counts the claims and releases of keys that are under way. */
  readonly #calls = new Activity();
  readonly #queues = new TransientMap<string, KeyQueue>();

  constructor(services: KeyServices) {
    this.#services = services;
  }

  /** Resolves once no key is being claimed or released. */
  idle(): Promise<void> {
    return this.#calls.idle();
  }

  /** Acquires a key of a handler: see {@link KeyQueue.acquire}. */
  async acquire(handler: string, key: string, request: KeyRequest): Promise<HeldKey> {
    request.interruption.throwIfEnded();
    const id = keyId(handler, key);
    // On Cloudflare Workers one HTTP request must not wait for another, so the store alone decides.
    if (requestsAreIsolated) return this.#createQueue(id, handler, () => {}).acquire(request);
    let queue = this.#queues.get(id);
    if (queue === undefined) {
      queue = this.#createQueue(id, handler, () => this.#queues.delete(id));
      this.#queues.set(id, queue);
    }
    return queue.acquire(request);
  }

  #createQueue(id: string, handler: string, onIdle: () => void): KeyQueue {
    return new KeyQueue(id, handler, this.#services, this.#calls, onIdle);
  }
}

/** Checks what `concurrencyKey` returned. Throws {@link ConfigurationError}. */
export function checkKey(key: unknown): string {
  if (typeof key === 'string' && key !== '' && key.length <= MAX_KEY_LENGTH) return key;
  dropPromise(key);
  // The key is a part of the event, so the message does not show it.
  const got = typeof key === 'string' ? `a string of ${key.length}` : typeNameOf(key);
  throw new ConfigurationError(
    `it must return a non-empty string of at most ${MAX_KEY_LENGTH} characters, got ${got}`,
  );
}
