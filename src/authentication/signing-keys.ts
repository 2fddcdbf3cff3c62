import { messageOf, UnavailableError } from '../errors.ts';
import type { Awaitable } from '../timing/awaitable.ts';
import { withTimeLimit } from '../timing/time-limit.ts';
import type { HmacKey } from './hmac-key.ts';
import { importKeys, type Key } from './signature.ts';

/** Fixed keys, or a function that fetches them, for example from a secrets manager. */
export type SigningKeys = Key | readonly Key[] | (() => Promise<Key | readonly Key[]>);

/** Gives the keys that are valid now, or rejects with an {@link UnavailableError}; by `deadline`, of the monotonic clock. */
export type KeySource = (deadline: number) => Awaitable<readonly HmacKey[]>;

/** A source that takes longer counts as failed, so that its delivery is still answered in time. */
const KEY_SOURCE_TIMEOUT_MS = 5_000;

/** Makes a source of keys. A function is asked once at a time: deliveries that wait share its answer. */
export function createKeySource(signingKey: SigningKeys): KeySource {
  if (typeof signingKey !== 'function') {
    const keys = importKeys(signingKey, 'signingKey');
    return () => keys;
  }
  let pending: Promise<readonly HmacKey[]> | undefined;
  const ask = async () => importKeys(await signingKey(), 'what the signingKey function returned');
  const late = () => new Error('it did not answer in time');
  return async (deadline) => {
    pending ??= withTimeLimit(ask(), KEY_SOURCE_TIMEOUT_MS, late).finally(() => {
      pending = undefined;
    });
    try {
      return await withTimeLimit(pending, Math.max(0, deadline - performance.now()), late);
    } catch (cause) {
      throw new UnavailableError(
        'keys_unavailable',
        `the signingKey function gave no key: ${messageOf(cause)}`,
        {
          cause,
        },
      );
    }
  };
}
