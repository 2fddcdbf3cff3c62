/**
 * The key of the row that refuses late claims of a token on an id. No id has such a key: `toKey` makes a
 * digest of each id that begins with `sha256:`, and a digest has no second colon.
 */
export function refusalKey({ key, token }: { readonly key: string; readonly token: string }): string {
  return `sha256:late:${token}:${key}`;
}
