import type { LetterVersion } from './letter-parts.ts';
import type { Attributes, TableSession } from './table.ts';

/** The item of a letter, which is there as long as the letter. */
export interface LetterItem extends LetterVersion {
  /** The text, unless it is in parts. */
  readonly text: string;
  /** Its place in the order of the letters: `<parkedAt>/<rank>/<key>`. */
  readonly position: string;
  /** Grows with each writing of the letter. */
  readonly rank: string;
}

/** A letter to write. */
export interface NewLetterItem extends LetterVersion {
  readonly text: string;
  readonly parkedAt: number;
  readonly rank: string;
}

const DIGITS = 16;

/** Numbers as text of one length are ordered as the numbers are. */
function ordered(number: number): string {
  const within = Math.min(Math.max(Math.trunc(number), 0), Number.MAX_SAFE_INTEGER);
  return String(within).padStart(DIGITS, '0');
}

/**
 * Creates a function that returns a greater rank each time: the time in microseconds, so that the ranks of
 * several processes are about in order, too.
 */
export function createRanks(): () => string {
  let last = 0;
  return () => {
    last = Math.max(last + 1, Date.now() * 1_000);
    return ordered(last);
  };
}

/**
 * Stores the item of a letter in one write, from which on the letter is there. Takes a second one if there is
 * a letter of the same moment, whose position it keeps. Resolves with the items whose place it took.
 *
 * Only a greater rank takes the place of another: a write that arrives once more, late, must not bring back a
 * version whose parts are gone.
 */
export async function putLetterItem(
  session: TableSession,
  scope: string,
  key: string,
  letter: NewLetterItem,
): Promise<readonly LetterItem[]> {
  const moment = `${ordered(letter.parkedAt)}/`;
  const seen: LetterItem[] = [];
  let { rank } = letter;
  let kept: string | undefined;
  for (;;) {
    const position = kept ?? `${moment}${rank}/${key}`;
    const outcome = await session.put({
      Item: { ...keyOfLetter(scope, key), ...attributesOf(letter, position, rank) },
      ...(kept === undefined ? ifOfAnotherMoment(moment, rank) : ifStillAt(kept, rank)),
      ReturnValues: 'ALL_OLD',
    });
    const item = outcome.isWritten ? outcome.old : outcome.found;
    const found = item === undefined ? undefined : readLetterItem(item);
    // The answer to an earlier try was lost.
    if (found?.version === letter.version) return seen;
    if (found !== undefined) seen.push(found);
    if (outcome.isWritten) return seen;
    kept = found?.position.startsWith(moment) ? found.position : undefined;
    if (found !== undefined && found.rank >= rank) rank = ordered(Number(found.rank) + 1);
  }
}

const NAMES = { '#position': 'position', '#rank': 'rank' };

/** There is no letter, or one that was parked in another millisecond. */
function ifOfAnotherMoment(moment: string, rank: string) {
  return {
    ConditionExpression:
      'attribute_not_exists(pk) or (#rank < :rank and not begins_with(#position, :moment))',
    ExpressionAttributeNames: NAMES,
    ExpressionAttributeValues: { ':moment': { S: moment }, ':rank': { S: rank } },
  };
}

function ifStillAt(position: string, rank: string) {
  return {
    ConditionExpression: '#rank < :rank and #position = :position',
    ExpressionAttributeNames: NAMES,
    ExpressionAttributeValues: { ':position': { S: position }, ':rank': { S: rank } },
  };
}

/** Reads the item of a letter. */
export async function getLetterItem(
  session: TableSession,
  scope: string,
  key: string,
): Promise<LetterItem | undefined> {
  const item = await session.get(keyOfLetter(scope, key));
  return item === undefined ? undefined : readLetterItem(item);
}

/** Deletes the item of a letter, unless the letter was written anew or is gone. */
export async function deleteLetterItem(
  session: TableSession,
  scope: string,
  key: string,
  { version }: LetterVersion,
): Promise<'deleted' | 'replaced' | 'gone'> {
  const outcome = await session.delete({
    Key: keyOfLetter(scope, key),
    ConditionExpression: '#version = :version',
    ExpressionAttributeNames: { '#version': 'version' },
    ExpressionAttributeValues: { ':version': { S: version } },
  });
  if (outcome.isWritten) return 'deleted';
  return outcome.found === undefined ? 'gone' : 'replaced';
}

/** Finds the letter after a position. */
export async function nextLetterKey(
  session: TableSession,
  scope: string,
  after: string,
): Promise<{ readonly key: string; readonly position: string } | undefined> {
  const pages = session.pages({ ...lettersAfter(scope, after), Limit: 1 });
  for await (const { Items: [item] = [] } of pages) {
    if (item !== undefined)
      return { key: (item.sk?.S ?? '').slice(KEY_PREFIX.length), position: item.position?.S ?? '' };
  }
  return undefined;
}

/** Their keys are far from a megabyte, which is the most of a page. */
const MOST_PER_PAGE = 1_000;

/** Counts letters up to a limit. */
export async function countLetters(session: TableSession, scope: string, limit: number): Promise<number> {
  let count = 0;
  if (limit < 1) return 0;
  const Limit = Math.min(limit, MOST_PER_PAGE);
  const pages = session.pages({ ...lettersAfter(scope, ''), Select: 'COUNT', Limit });
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

function attributesOf({ text, version, parts }: NewLetterItem, position: string, rank: string): Attributes {
  return {
    position: { S: position },
    rank: { S: rank },
    version: { S: version },
    parts: { N: String(parts) },
    ...(parts === 0 && { letter: { S: text } }),
  };
}

function readLetterItem(item: Attributes): LetterItem {
  return {
    text: item.letter?.S ?? '',
    position: item.position?.S ?? '',
    rank: item.rank?.S ?? '',
    version: item.version?.S ?? '',
    parts: Number(item.parts?.N ?? 0),
  };
}

/** The key of an id can be empty, and that of an item cannot. */
const KEY_PREFIX = 'id#';

function keyOfLetter(scope: string, key: string): Attributes {
  return { pk: lettersKey(scope), sk: { S: `${KEY_PREFIX}${key}` } };
}

function lettersKey(scope: string): { S: string } {
  return { S: `${scope}#dead-letters` };
}
