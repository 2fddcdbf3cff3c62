import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { REMOVED_KEPT_MS } from '../../kit/durations.ts';
import type { Attributes, DynamoConnection, WriteOutcome } from '../connection.ts';
import { replacement } from '../item-update.ts';
import { rankOf, sortable } from './letter-version.ts';
import type { LetterAddress, LetterVersion, WrittenVersion } from './part-items.ts';

/**
 * The item of a dead letter. A removal leaves the version in the item (a "tombstone"), so that a late
 * repetition of a write does not bring the dead letter back.
 */
export interface LetterItem extends LetterVersion {
  /** The compressed text, unless it is in parts. */
  readonly bytes: Uint8Array;
  /** Its place in the order of the dead letters: `<parkedAt>/<rank>/<key>`. A tombstone has none. */
  readonly position: string | undefined;
  /** The place that a tombstone had as a dead letter. */
  readonly lastPosition: string | undefined;
  /** The removal that made the tombstone. */
  readonly removal: string | undefined;
  /** The version as it was read, for conditions. An item that was damaged by hand may have none. */
  readonly foundVersion: AttributeValue | undefined;
}

/**
 * Stores the item of a dead letter. `found` is the item because of which an earlier try was refused: if it
 * has the same `parkedAt`, its position is kept.
 */
export function putLetterItem(
  at: LetterAddress,
  { version, parts, bytes }: WrittenVersion,
  parkedAt: number,
  found: LetterItem | undefined,
): Promise<WriteOutcome> {
  const moment = `${sortable(parkedAt)}/`;
  const kept = found?.position?.startsWith(moment) ? found.position : undefined;
  const position = { S: kept ?? `${moment}${rankOf(version)}/${at.key}` };
  const isInPlace =
    kept === undefined
      ? '(attribute_not_exists(#position) or not begins_with(#position, :place))'
      : '#position = :place';
  const foundVersion = found?.foundVersion;
  const attributes = {
    position,
    version: { S: version },
    parts: { N: String(parts) },
    ...(bytes && { letter: { B: bytes } }),
  };
  const write = replacement(attributes, LETTER_ATTRIBUTES, {
    // Only a greater version replaces another: a late repetition of a write must not bring back a version
    // whose parts are deleted. The found item may be damaged, so its version is replaced in any case.
    ConditionExpression:
      `attribute_not_exists(#version) or #version < :version and ${isInPlace}` +
      (foundVersion === undefined ? '' : ' or #version = :found'),
    ExpressionAttributeValues: {
      ':place': { S: kept ?? moment },
      ...(foundVersion && { ':found': foundVersion }),
    },
  });
  return at.connection.update({ Key: keyOfLetter(at), ...write, ReturnValues: 'ALL_OLD' });
}

/** All attributes that the item of a dead letter can have besides its key. */
const LETTER_ATTRIBUTES: readonly string[] = [
  'position',
  'version',
  'parts',
  'letter',
  'lastPosition',
  'removal',
  'ttl',
];

export async function getLetterItem(at: LetterAddress): Promise<LetterItem | undefined> {
  return readLetterItem(await at.connection.get(keyOfLetter(at)));
}

/** Makes a tombstone of the item that was found, unless it was written anew or is one already. */
export function removeLetterItem(
  at: LetterAddress,
  { foundVersion }: LetterItem,
  removal: string,
): Promise<WriteOutcome> {
  const ttl = Math.ceil((Date.now() + REMOVED_KEPT_MS) / 1_000);
  const isUnchanged = foundVersion === undefined ? 'attribute_not_exists(#version)' : '#version = :found';
  return at.connection.update({
    Key: keyOfLetter(at),
    UpdateExpression:
      'set lastPosition = #position, #ttl = :ttl, removal = :removal remove #position, letter',
    ConditionExpression: `${isUnchanged} and attribute_exists(#position)`,
    ExpressionAttributeNames: { '#version': 'version', '#position': 'position', '#ttl': 'ttl' },
    ExpressionAttributeValues: {
      ':ttl': { N: String(ttl) },
      ':removal': { S: removal },
      ...(foundVersion && { ':found': foundVersion }),
    },
  });
}

/** Reads an item as the SDK has it. */
export function readLetterItem(item: Attributes | undefined): LetterItem | undefined {
  if (item === undefined) return undefined;
  return {
    bytes: item.letter?.B ?? new Uint8Array(),
    version: item.version?.S ?? '',
    foundVersion: item.version,
    parts: Number(item.parts?.N ?? 0),
    position: item.position?.S,
    lastPosition: item.lastPosition?.S,
    removal: item.removal?.S,
  };
}

/** Finds the dead letter after a position. */
export async function nextLetterKey(
  connection: DynamoConnection,
  scope: string,
  after: string,
): Promise<{ readonly key: string; readonly place: string } | undefined> {
  const pages = connection.pages({ ...lettersAfter(scope, after), Limit: 1 });
  for await (const { Items: [item] = [] } of pages) {
    if (item !== undefined)
      return { key: (item.sk?.S ?? '').slice(KEY_PREFIX.length), place: item.position?.S ?? '' };
  }
  return undefined;
}

/** The keys of so many items are far below a megabyte, the limit of a page. */
const MOST_PER_PAGE = 1_000;

/** Counts dead letters up to a limit. */
export async function countLetters(
  connection: DynamoConnection,
  scope: string,
  limit: number,
): Promise<number> {
  let count = 0;
  if (limit < 1) return 0;
  const Limit = Math.min(limit, MOST_PER_PAGE);
  const pages = connection.pages({ ...lettersAfter(scope, ''), Select: 'COUNT', Limit });
  for await (const { Count = 0 } of pages) {
    count += Count;
    if (count >= limit) break;
  }
  return Math.min(count, limit);
}

/** Positions begin with digits, and DynamoDB takes no empty text in a condition on a key. */
const BEFORE_ALL = '!';

function lettersAfter(scope: string, position: string) {
  return {
    IndexName: 'by-position',
    KeyConditionExpression: 'pk = :pk and #position > :position',
    ExpressionAttributeNames: { '#position': 'position' },
    ExpressionAttributeValues: {
      ':pk': lettersKey(scope),
      ':position': { S: position === '' ? BEFORE_ALL : position },
    },
  };
}

/** The key of an id can be empty, and that of an item cannot. */
const KEY_PREFIX = 'id#';

function keyOfLetter({ scope, key }: LetterAddress): Attributes {
  return { pk: lettersKey(scope), sk: { S: `${KEY_PREFIX}${key}` } };
}

function lettersKey(scope: string): { S: string } {
  return { S: `${scope}#dead-letters` };
}
