import { ConfigurationError } from '../errors.ts';
import type { Awaitable } from '../timing/awaitable.ts';
import { ofAccount } from './account.ts';
import type { Key } from './key.ts';
import { type FetchKeys, KeyCalls } from './key-calls.ts';

/**
 * Fixed keys, or a function that fetches them, for example from a secrets manager. With the option `account`
 * the function gets the account, and returns undefined or an empty list for one that it does not know.
 * Without `account` it may return undefined too, as `process.env` does: then the delivery is answered 503.
 */
export type SigningKeys =
  | Key
  | readonly Key[]
  | ((account?: string) => Awaitable<Key | readonly Key[] | undefined>);

/**
 * Returns the keys that are valid now for an account, by `deadline` (of the monotonic clock). Rejects with
 * UnavailableError, and with RequestError for an account without a key.
 */
export type KeySource<Keys> = (deadline: number, account: string | undefined) => Awaitable<Keys>;

/** Checks keys. `name` is for errors; `account` is the one whose keys they are. */
export type ImportKeys<Keys> = (
  keys: Key | readonly Key[],
  name: string,
  account: string | undefined,
) => Keys;

/** Creates a source of keys, which `importKeys` checks. */
export function createKeySource<Keys>(
  signingKey: SigningKeys,
  importKeys: ImportKeys<Keys>,
): KeySource<Keys> {
  if (typeof signingKey !== 'function') {
    const keys = importKeys(signingKey, 'signingKey', undefined);
    return () => keys;
  }
  const fetchKeys: FetchKeys<Keys> = async (account) => {
    const keys = await signingKey(account);
    if (account !== undefined && isNone(keys)) return undefined;
    if (keys !== undefined)
      return importKeys(keys, `the result of the signingKey function${ofAccount(account)}`, account);
    throw new ConfigurationError(
      'it returned undefined; if it reads an environment variable, set it for the running process',
    );
  };
  const calls = new KeyCalls(fetchKeys);
  return (deadline, account) => calls.ask(deadline, account);
}

/** A look-up in a table or in Redis may return an empty list or null. */
function isNone(keys: unknown): boolean {
  return keys === undefined || keys === null || (Array.isArray(keys) && keys.length === 0);
}
