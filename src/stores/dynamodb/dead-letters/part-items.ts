import type { Attributes, DynamoConnection } from '../connection.ts';

/** The scope and the key of a dead letter, and the connection for its items. */
export interface LetterAddress {
  readonly connection: DynamoConnection;
  readonly scope: string;
  readonly key: string;
}

/** An item holds at most 400 KB, with its keys and the names of its attributes. */
const MOST_BYTES = 300_000;

/** One writing of a dead letter. Its parts bear its name, so parts of two writings never mix. */
export interface LetterVersion {
  /** Unique; a later writing of the dead letter has a greater one. */
  readonly version: string;
  /** The number of parts; 0 if the bytes are in the dead letter's own item. */
  readonly parts: number;
}

/** A version to be named by the dead letter's item, with the bytes that the item needs. */
export interface WrittenVersion extends LetterVersion {
  /** Undefined if they are in parts. */
  readonly bytes: Buffer | undefined;
}

/**
 * Stores the parts of a version, if its bytes are too long for an item. Nothing reads them until the dead
 * letter's item names the version.
 */
export async function writeParts(at: LetterAddress, version: string, bytes: Buffer): Promise<WrittenVersion> {
  if (bytes.length <= MOST_BYTES) return { version, parts: 0, bytes };
  const parts = Math.ceil(bytes.length / MOST_BYTES);
  const writes = Array.from({ length: parts }, (_, index) => {
    const part = bytes.subarray(index * MOST_BYTES, (index + 1) * MOST_BYTES);
    return at.connection.put({ Item: { ...keyOfPart(at, version, index), bytes: { B: part } } });
  });
  const failed = (await Promise.allSettled(writes)).find(({ status }) => status === 'rejected');
  if (failed?.status !== 'rejected') return { version, parts, bytes: undefined };
  // Not awaited, because the time limit of this connection may be over.
  void ignoringErrors(deleteParts({ ...at, connection: at.connection.withNewLimit() }, { version, parts }));
  throw failed.reason;
}

/** Reads the bytes of a version; resolves with undefined unless all its parts are there. */
export async function readParts(
  at: LetterAddress,
  { version, parts }: LetterVersion,
): Promise<Uint8Array | undefined> {
  const found: Uint8Array[] = [];
  const pages = at.connection.pages({
    KeyConditionExpression: 'pk = :pk and begins_with(sk, :version)',
    ExpressionAttributeValues: { ':pk': partsKey(at), ':version': { S: `${version}#` } },
  });
  for await (const { Items = [] } of pages)
    found.push(...Items.map(({ bytes }) => bytes?.B ?? new Uint8Array()));
  return found.length === parts ? Buffer.concat(found) : undefined;
}

/** Deletes the parts of a version that no item names. */
export async function deleteParts(at: LetterAddress, { version, parts }: LetterVersion): Promise<void> {
  const keys = Array.from({ length: parts }, (_, index) => keyOfPart(at, version, index));
  await Promise.all(keys.map((Key) => at.connection.delete({ Key })));
}

/** Ignores errors, because parts that stay behind only take room. */
export async function ignoringErrors(work: Promise<unknown>): Promise<void> {
  try {
    await work;
  } catch {}
}

function keyOfPart(at: LetterAddress, version: string, index: number): Attributes {
  return { pk: partsKey(at), sk: { S: `${version}#${String(index + 1).padStart(4, '0')}` } };
}

function partsKey({ scope, key }: LetterAddress): { S: string } {
  return { S: `${scope}#letter-parts#${key}` };
}
