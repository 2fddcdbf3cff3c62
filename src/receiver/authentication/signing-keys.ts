import { ConfigurationError, UnavailableError } from '../errors.ts';
import type { Awaitable } from '../timing/awaitable.ts';
import { performance } from '../timing/process-clock.ts';
import { SharedCall } from '../timing/shared-call.ts';
import { withTimeLimit } from '../timing/time-limit.ts';
import { messageOf } from '../values/foreign-values.ts';
import type { Key } from './key.ts';

/**
 * Fixed keys, or a function that fetches them, for example from a secrets manager. A function may return
 * undefined, as `process.env` does: then there is no key, and the delivery is answered 503.
 */
export type SigningKeys = Key | readonly Key[] | (() => Awaitable<Key | readonly Key[] | undefined>);

/**
 * Returns the keys that are valid now, by `deadline` (of the monotonic clock). Rejects with
 * {@link UnavailableError}.
 */
export type KeySource<Keys> = (deadline: number) => Awaitable<Keys>;

/** A function that takes longer counts as failed, so that the delivery is answered in time all the same. */
const KEY_SOURCE_TIMEOUT_MS = 5_000;

/**
 * Creates a source of keys, which `importKeys` checks. Deliveries that wait share one call of the function.
 * After a late call, the next delivery calls the function again.
 */
export function createKeySource<Keys>(
  signingKey: SigningKeys,
  importKeys: (keys: Key | readonly Key[], name: string) => Keys,
): KeySource<Keys> {
  if (typeof signingKey !== 'function') {
    const keys = importKeys(signingKey, 'signingKey');
    return () => keys;
  }
  const fetchKeys = async () => {
    const keys = await signingKey();
    if (keys !== undefined) return importKeys(keys, 'the result of the signingKey function');
    throw new ConfigurationError(
      'it returned undefined; if it reads an environment variable, set it for the running process',
    );
  };
  const lateError = () => new Error('it did not answer in time');
  const fetching = new SharedCall(() => withTimeLimit(fetchKeys(), KEY_SOURCE_TIMEOUT_MS, lateError));
  return async (deadline) => {
    try {
      return await withTimeLimit(fetching.ask(), Math.max(0, deadline - performance.now()), lateError);
    } catch (cause) {
      const message = `the signingKey function gave no key: ${messageOf(cause)}`;
      throw new UnavailableError('keys_unavailable', message, { cause });
    }
  };
}
