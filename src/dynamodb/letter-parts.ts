import { randomUUID } from 'node:crypto';
import { splitText } from '../dead-letters/split-text.ts';
import type { Attributes, TableSession } from './table.ts';

/** An item takes 400 KB, with its keys and the names of its attributes. */
const MOST_BYTES = 300_000;

/** One writing of a letter. Its parts bear its name, so parts of two writings never mix. */
export interface LetterVersion {
  /** Unique, and ordered by the time of the writing. */
  readonly version: string;
  /** The number of parts; 0 if the text is in the letter's own item. */
  readonly parts: number;
}

/** The parts of a text, for a new version of a letter. */
export interface SplitLetter extends LetterVersion {
  readonly texts: readonly string[];
}

/** Splits a text that is too long for an item. */
export function splitForItems(text: string): SplitLetter {
  const texts = splitText(text, MOST_BYTES);
  return { version: `${timePrefix(Date.now())}-${randomUUID()}`, parts: texts.length, texts };
}

function timePrefix(time: number): string {
  return String(time).padStart(16, '0');
}

/** Stores the parts of a version. Nothing reads them until the letter's item names the version. */
export async function writeParts(
  session: TableSession,
  scope: string,
  key: string,
  letter: SplitLetter,
): Promise<void> {
  const writes = letter.texts.map((text, index) =>
    session.put({ Item: { ...keyOfPart(scope, key, letter.version, index), text: { S: text } } }),
  );
  const results = await Promise.allSettled(writes);
  for (const result of results) if (result.status === 'rejected') throw result.reason;
}

/** Reads the text of a version; resolves with undefined unless all its parts are there. */
export async function readParts(
  session: TableSession,
  scope: string,
  key: string,
  { version, parts }: LetterVersion,
): Promise<string | undefined> {
  const texts: string[] = [];
  const pages = session.pages({
    KeyConditionExpression: 'pk = :pk and begins_with(sk, :version)',
    ExpressionAttributeValues: { ':pk': partsKey(scope, key), ':version': { S: `${version}#` } },
  });
  for await (const { Items = [] } of pages) texts.push(...Items.map(({ text }) => text?.S ?? ''));
  return texts.length === parts ? texts.join('') : undefined;
}

/** Deletes the parts of a version that no letter names. */
export async function deleteParts(
  session: TableSession,
  scope: string,
  key: string,
  { version, parts }: LetterVersion,
): Promise<void> {
  const keys = Array.from({ length: parts }, (_, index) => keyOfPart(scope, key, version, index));
  await Promise.all(keys.map((Key) => session.delete({ Key })));
}

/** Writing the parts and naming them takes five seconds at most. */
const LONGEST_WRITING_MS = 3_600_000;

/** Deletes the parts of earlier versions that died before a letter named them, or after it ceased to. */
export async function deleteForgottenParts(session: TableSession, scope: string, key: string): Promise<void> {
  const latest = timePrefix(Date.now() - LONGEST_WRITING_MS);
  const pages = session.pages({
    KeyConditionExpression: 'pk = :pk and sk < :latest',
    ExpressionAttributeValues: { ':pk': partsKey(scope, key), ':latest': { S: latest } },
    ProjectionExpression: 'pk, sk',
  });
  for await (const { Items = [] } of pages)
    await Promise.all(Items.map((Key) => session.delete({ Key: { ...Key } })));
}

function keyOfPart(scope: string, key: string, version: string, index: number): Attributes {
  return { pk: partsKey(scope, key), sk: { S: `${version}#${String(index + 1).padStart(4, '0')}` } };
}

function partsKey(scope: string, key: string): { S: string } {
  return { S: `${scope}#letter-parts#${key}` };
}
