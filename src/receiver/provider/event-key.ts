/** An event by its sender: the parts of its key. */
interface EventOrigin {
  /** The sender's id of the event. */
  readonly id: string;
  /** The account of the sender, if it is known. */
  readonly account?: string | undefined;
}

/** Returns the key of an event: no other event in the store has it. */
export type EventKeyFunction = (origin: EventOrigin) => string;

/**
 * Keys begin with it, unless the provider has a function of its own. Stores hold such keys, so it must not
 * change. `claim-id.ts` gives no other id this prefix.
 */
const PREFIX = 'handled:from:';

/** An id that could be taken for such a key. */
const LOOKS_LIKE_KEY = /^(?:handled:)+from:/;

/**
 * Creates the function for the keys of a provider. The lengths keep name, account and id apart, because an
 * account and an id can hold any character.
 */
export function keyFunctionOf(name: string): EventKeyFunction {
  const start = `${PREFIX}${name.length}:${name}:`;
  return ({ id, account }) =>
    account === undefined ? `${start}-:${id}` : `${start}${account.length}:${account}:${id}`;
}

/**
 * Creates the function for the keys of the default provider. A key is the id, escaped if it looks like a key
 * of another one. With an account, the key has the form of any other provider's.
 */
export function bareKeyFunctionOf(name: string): EventKeyFunction {
  const keyOf = keyFunctionOf(name);
  return (origin) => {
    if (origin.account !== undefined) return keyOf(origin);
    return looksLikeKey(origin.id) ? `handled:${origin.id}` : origin.id;
  };
}

/**
 * Returns true for the key of another provider than the default one, and for an id that looks like such a
 * key.
 */
export function looksLikeKey(id: string): boolean {
  return LOOKS_LIKE_KEY.test(id);
}

/**
 * Returns the part of a key that says where the event comes from: all keys of the same provider and account
 * begin with it. It is empty if the key is the id as it stands.
 */
export function keyStart({ key, id }: { readonly key: string; readonly id: string }): string {
  const start = key.slice(0, key.length - id.length);
  return start.startsWith(PREFIX) ? start : '';
}
