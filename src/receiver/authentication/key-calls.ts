import { LRUCache } from 'lru-cache';
import { UnavailableError } from '../errors.ts';
import { requestsAreIsolated } from '../timing/isolated-requests.ts';
import { performance } from '../timing/process-clock.ts';
import { Semaphore } from '../timing/semaphore.ts';
import { withTimeLimit } from '../timing/time-limit.ts';
import { TransientMap } from '../timing/transient-map.ts';
import { messageOf } from '../values/foreign-values.ts';
import { ofAccount, unknownAccount } from './account.ts';

/** Fetches the keys of an account; undefined if the account does not have any. */
export type FetchKeys<Keys> = (account: string | undefined) => Promise<Keys | undefined>;

/** A function that takes longer counts as failed, so that the delivery is answered in time all the same. */
const CALL_TIMEOUT_MS = 5_000;

/** The most accounts whose keys are fetched at once: anybody can send requests of any account. */
const MAX_CALLS = 16;

/** The calls that are kept for accounts that have had keys, once there is one. */
const KEPT_CALLS = 4;

/** The time for which an account without a key is remembered: a new account must not wait for long. */
const WITHOUT_KEYS_MS = 10_000;

/** The most accounts that are remembered, of those with keys and of those without. */
const MAX_REMEMBERED = 1_000;

/**
 * Calls a function that fetches keys. Deliveries of one account share a call until it has ended, or is late:
 * nobody waits for a late call any more, but it may still run. Some calls are kept for accounts that have had
 * keys before, so that requests of made-up accounts do not hold them up. On Cloudflare Workers each request
 * makes its own call, because no request may wait for another.
 */
export class KeyCalls<Keys> {
  readonly #fetch: FetchKeys<Keys>;
  readonly #pending = new TransientMap<string | undefined, Promise<Keys | undefined>>();
  readonly #permits = new Semaphore(MAX_CALLS);
  readonly #permitsOfNew = new Semaphore(MAX_CALLS);
  readonly #withKeys = new LRUCache<string, true>({ max: MAX_REMEMBERED });
  /** The time from which each account is asked for again, by the monotonic clock. */
  readonly #withoutKeys = new LRUCache<string, number>({ max: MAX_REMEMBERED });

  constructor(fetch: FetchKeys<Keys>) {
    this.#fetch = fetch;
  }

  /**
   * Returns the keys of an account by `deadline`, of the monotonic clock. Rejects with RequestError if the
   * account does not have any, and with {@link UnavailableError} if the function fails or is late.
   */
  async ask(deadline: number, account: string | undefined): Promise<Keys> {
    let keys: Keys | undefined;
    try {
      const limitMs = Math.max(0, deadline - performance.now());
      keys = await withTimeLimit(this.#share(account), limitMs, lateError);
    } catch (cause) {
      const message = `the signingKey function gave no key${ofAccount(account)}: ${messageOf(cause)}`;
      throw new UnavailableError('keys_unavailable', message, { cause });
    }
    if (keys !== undefined) return keys;
    throw unknownAccount(`the signingKey function has no key${ofAccount(account)}`);
  }

  #share(account: string | undefined): Promise<Keys | undefined> {
    if (account !== undefined && this.#isWithoutKeys(account)) return Promise.resolve(undefined);
    if (requestsAreIsolated) return this.#call(account);
    const pending = this.#pending.get(account);
    if (pending !== undefined) return pending;
    const call = this.#callInTurn(account).finally(() => this.#pending.delete(account));
    this.#pending.set(account, call);
    return call;
  }

  #callInTurn(account: string | undefined): Promise<Keys | undefined> {
    const call = () => withPermit(this.#permits, () => this.#call(account));
    const isNew = account !== undefined && !this.#withKeys.has(account);
    return isNew ? withPermit(this.#permitsOfNew, call) : call();
  }

  async #call(account: string | undefined): Promise<Keys | undefined> {
    const keys = await withTimeLimit(this.#fetch(account), CALL_TIMEOUT_MS, lateError);
    if (account !== undefined) this.#remember(account, keys !== undefined);
    return keys;
  }

  #remember(account: string, hasKeys: boolean): void {
    if (hasKeys) {
      this.#withKeys.set(account, true);
      this.#permitsOfNew.size = MAX_CALLS - KEPT_CALLS;
      return;
    }
    this.#withKeys.delete(account);
    this.#withoutKeys.set(account, performance.now() + WITHOUT_KEYS_MS);
  }

  #isWithoutKeys(account: string): boolean {
    const until = this.#withoutKeys.get(account);
    return until !== undefined && performance.now() < until;
  }
}

/** Waits for a permit no longer than for a call, so that a shared call ends. */
async function withPermit<T>(permits: Semaphore, work: () => Promise<T>): Promise<T> {
  if (!permits.tryAcquire())
    await permits.acquire((granted) => withTimeLimit(granted, CALL_TIMEOUT_MS, waitError));
  try {
    return await work();
  } finally {
    permits.release();
  }
}

function waitError(): Error {
  return new Error('it was not called, because the keys of other accounts were being fetched');
}

function lateError(): Error {
  return new Error('it did not answer in time');
}
