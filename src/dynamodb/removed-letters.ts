import type { Attributes, TableSession } from './table.ts';

/** A list can go on after a letter that was removed within this time. */
const REMEMBERED_MS = 86_400_000;

/** Remembers the place of a letter that is about to be removed. */
export async function rememberRemoved(
  session: TableSession,
  scope: string,
  key: string,
  position: string,
): Promise<void> {
  const ttl = Math.ceil((Date.now() + REMEMBERED_MS) / 1_000);
  // Not `position`, because items with that are in the index.
  const item = { ...keyOfRemoved(scope, key), lastPosition: { S: position }, ttl: { N: String(ttl) } };
  await session.put({ Item: item });
}

/** The place of a letter that was removed, if it is known. */
export async function findRemoved(
  session: TableSession,
  scope: string,
  key: string,
): Promise<string | undefined> {
  const item = await session.get(keyOfRemoved(scope, key));
  return item?.lastPosition?.S;
}

function keyOfRemoved(scope: string, key: string): Attributes {
  return { pk: { S: `${scope}#removed#${key}` }, sk: { S: 'removed' } };
}
