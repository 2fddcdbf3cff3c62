import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { DeadLetter, DeadLetters } from '../dead-letters/dead-letters.ts';
import { createOrderedList, readStoredLetter, type StoredLetter } from '../dead-letters/ordered-list.ts';
import { serializeLetter } from '../dead-letters/serialized-letter.ts';
import { toKey } from '../dedupe/store.ts';
import { DeadLetterError } from '../errors.ts';
import { messageOf } from '../foreign-values.ts';
import { readPlace } from './arguments.ts';
import {
  countLetters,
  createRanks,
  deleteLetterItem,
  getLetterItem,
  nextLetterKey,
  putLetterItem,
} from './letter-item.ts';
import {
  deleteForgottenParts,
  deleteParts,
  type LetterVersion,
  readParts,
  splitForItems,
  writeParts,
} from './letter-parts.ts';
import { findRemoved, rememberRemoved } from './removed-letters.ts';
import { TableSession } from './table.ts';

/** Options of {@link createDynamoDeadLetters}. */
export interface DynamoDeadLettersOptions {
  /**
   * The name or the ARN of the table, as for the store; both may have the same one: 3 to 255 letters, digits,
   * `_`, `-` or `.`.
   */
  readonly table: string;
  /**
   * Names the application and its environment: 1 to 64 letters, digits, `.`, `_` or `-`.
   * The store may have the same scope.
   */
  readonly scope: string;
}

const COMMAND_TIMEOUT_MS = 5_000;

/**
 * Keeps dead letters in a table of DynamoDB. They do not expire. A letter that is too long for an item is
 * split, and is there whole or not at all. `list` can continue `after` a letter that was removed within the
 * last day. Operations have five seconds, with the retries of the SDK, and reject with DeadLetterError.
 *
 * @throws ConfigurationError if the client is not one of DynamoDB, and for a wrong or missing option.
 *
 * @example
 * ```ts
 * const client = new DynamoDBClient({ region: 'eu-central-1' });
 * const place = { table: 'posthorn', scope: 'billing-production' };
 * const deadLetters = createDynamoDeadLetters(client, place);
 * const receiver = createReceiver({ signingKey: process.env.SIGNING_KEY, deadLetters });
 * ```
 */
export function createDynamoDeadLetters(
  client: DynamoDBClient,
  options: DynamoDeadLettersOptions,
): DeadLetters {
  const { table, scope } = readPlace('createDynamoDeadLetters', client, options);
  const nextRank = createRanks();
  const run = createRun(scope, () => new TableSession(client, table, COMMAND_TIMEOUT_MS));
  return {
    put: (letter) => run((session) => putLetter(session, scope, letter, nextRank())),

    async get(id) {
      const text = await run((session) => readLetter(session, scope, toKey(id)));
      return text === undefined ? undefined : readStoredLetter('DynamoDB', id, text);
    },

    remove: (id) => run((session) => removeLetter(session, scope, toKey(id))),

    list: createOrderedList('DynamoDB', (last, lastPlace) =>
      run((session) => readNext(session, scope, last, lastPlace)),
    ),

    count: ({ limit }) => run((session) => countLetters(session, scope, limit)),
  };
}

/** Runs commands within one time limit. */
type Run = <Result>(work: (session: TableSession) => Promise<Result>) => Promise<Result>;

function createRun(scope: string, openSession: () => TableSession): Run {
  return async (work) => {
    try {
      return await work(openSession());
    } catch (cause) {
      const message = `the dead letters of ${scope} in DynamoDB failed: ${messageOf(cause)}`;
      throw new DeadLetterError('dead_letters_unavailable', message, { cause });
    }
  };
}

/** The parts come first, because nothing reads them before the letter's item names them. */
async function putLetter(
  session: TableSession,
  scope: string,
  letter: DeadLetter,
  rank: string,
): Promise<void> {
  const key = toKey(letter.id);
  const text = serializeLetter(letter);
  const split = splitForItems(text);
  try {
    await writeParts(session, scope, key, split);
  } catch (error) {
    // Only here: a failed write of the item may have been done all the same, and needs its parts. It is not
    // awaited, because the time of this session may be over.
    void tidy(() => deleteParts(session.anew(), scope, key, split));
    throw error;
  }
  const { parkedAt } = letter;
  const replaced = await putLetterItem(session, scope, key, { ...split, text, parkedAt, rank });
  await tidyParts(session, scope, key, replaced, split.parts > 0);
}

/**
 * Its place is remembered first, and its parts are known before: the answer to the deletion can be lost. Of
 * several removals at once, one resolves with true.
 */
async function removeLetter(session: TableSession, scope: string, key: string): Promise<boolean> {
  for (;;) {
    const item = await getLetterItem(session, scope, key);
    if (item === undefined) return false;
    await rememberRemoved(session, scope, key, item.position);
    const outcome = await deleteLetterItem(session, scope, key, item);
    if (outcome === 'replaced') continue;
    await tidyParts(session, scope, key, [item], false);
    return outcome === 'deleted';
  }
}

/** Deletes what no letter names any more. */
function tidyParts(
  session: TableSession,
  scope: string,
  key: string,
  replaced: readonly LetterVersion[],
  isSplit: boolean,
): Promise<void> {
  const split = replaced.filter(({ parts }) => parts > 0);
  if (split.length === 0 && !isSplit) return Promise.resolve();
  return tidy(async () => {
    for (const version of split) await deleteParts(session, scope, key, version);
    await deleteForgottenParts(session, scope, key);
  });
}

/** The operation has been done, and what stays behind only takes room until the next one. */
async function tidy(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch {}
}

/** Resolves with the text of a letter; with an empty one if parts of it are missing. */
async function readLetter(session: TableSession, scope: string, key: string): Promise<string | undefined> {
  let last: string | undefined;
  for (;;) {
    const item = await getLetterItem(session, scope, key);
    if (item === undefined || item.parts === 0) return item?.text;
    const text = await readParts(session, scope, key, item);
    if (text !== undefined) return text;
    // The letter was written anew or removed while its parts were read.
    if (item.version === last) return '';
    last = item.version;
  }
}

async function readNext(
  session: TableSession,
  scope: string,
  last: string,
  lastPlace: string,
): Promise<StoredLetter | undefined> {
  let place = lastPlace === '' ? await placeOf(session, scope, last) : lastPlace;
  for (;;) {
    const next = await nextLetterKey(session, scope, place);
    if (next === undefined) return undefined;
    place = next.position;
    const text = await readLetter(session, scope, next.key);
    if (text !== undefined) return { key: next.key, text, place };
  }
}

/** The place of a letter, which may be gone; before all letters if it is not known. */
async function placeOf(session: TableSession, scope: string, key: string): Promise<string> {
  if (key === '') return '';
  const item = await getLetterItem(session, scope, key);
  return item?.position ?? (await findRemoved(session, scope, key)) ?? '';
}
