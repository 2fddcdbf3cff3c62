import { randomUUID } from 'node:crypto';
import type { DeadLetter, DeadLetters } from '../../../receiver/dead-letters/dead-letters.ts';
import { toKey } from '../../../receiver/dedupe/store.ts';
import { DeadLetterError } from '../../../receiver/errors.ts';
import { SharedCall } from '../../../receiver/timing/shared-call.ts';
import { settledWithin } from '../../../receiver/timing/time-limit.ts';
import { messageOf } from '../../../receiver/values/foreign-values.ts';
import { createOrderedList, readStoredLetter, type StoredLetter } from '../../kit/ordered-list.ts';
import { serializeLetter } from '../../kit/serialized-letter.ts';
import { readPlace } from '../arguments.ts';
import type { DynamoClient } from '../client.ts';
import { refusalWithoutItem } from '../errors.ts';
import { TableSession } from '../table.ts';
import { compress, decompress } from './letter-bytes.ts';
import {
  buryLetterItem,
  countLetters,
  getLetterItem,
  type LetterItem,
  nextLetterKey,
  putLetterItem,
  readLetterItem,
} from './letter-item.ts';
import {
  deleteParts,
  type LetterAddress,
  type LetterVersion,
  readParts,
  tidied,
  writeParts,
} from './letter-parts.ts';
import { createVersions, type NextVersion } from './letter-version.ts';

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
  /**
   * How long one operation may take before it counts as failed, in milliseconds; 5,000 by default. That
   * includes the retries of the SDK.
   */
  readonly commandTimeoutMs?: number;
}

/** A receiver gives a letter two seconds, and what is stored must not count as failed. */
const TIDYING_MS = 200;

/**
 * Keeps dead letters in a table of DynamoDB. They do not expire. A letter that is too long for an item is
 * split, and is there whole or not at all. `list` can continue `after` a letter that was removed within the
 * last day. Operations reject with DeadLetterError.
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
  client: DynamoClient,
  options: DynamoDeadLettersOptions,
): DeadLetters {
  const place = readPlace('createDynamoDeadLetters', client, options, 5_000);
  const { scope } = place;
  const nextVersion = createVersions();
  const openSession = () => new TableSession(place.client, place.table, place.commandTimeoutMs);
  const checkIndex = createIndexCheck(scope, openSession);
  const run = createRun(scope, openSession);
  return {
    put: (letter) =>
      run(async (session) => {
        await checkIndex();
        await putLetter({ session, scope, key: toKey(letter.id) }, letter, nextVersion);
      }),

    async get(id) {
      const text = await run((session) => readLetter({ session, scope, key: toKey(id) }));
      return text === undefined ? undefined : readStoredLetter('DynamoDB', id, text);
    },

    remove: (id) => run((session) => removeLetter({ session, scope, key: toKey(id) })),

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

/**
 * A letter could be stored in a table without the index, but never be listed. So the first letter reads the
 * index once.
 */
function createIndexCheck(scope: string, openSession: () => TableSession): () => Promise<void> {
  let isThere = false;
  const reading = new SharedCall(async () => {
    await countLetters(openSession(), scope, 1);
    isThere = true;
  });
  return async () => {
    if (!isThere) await reading.ask();
  };
}

/** The parts come first, because nothing reads them before the letter's item names them. */
async function putLetter(at: LetterAddress, letter: DeadLetter, nextVersion: NextVersion): Promise<void> {
  const bytes = await compress(serializeLetter(letter));
  /** Versions that no item names once this one is written. */
  const outdated: LetterVersion[] = [];
  let mine = await writeParts(at, nextVersion(), bytes);
  let found: LetterItem | undefined;
  for (;;) {
    const outcome = await putLetterItem(at, mine, letter.parkedAt, found);
    if (!outcome.isWritten && outcome.found === undefined && found === undefined) throw refusalWithoutItem();
    found = readLetterItem(outcome.isWritten ? outcome.old : outcome.found);
    // The answer to an earlier try was lost. The letter may have been removed since.
    if (found?.version === mine.version) break;
    if (found !== undefined) outdated.push(found);
    if (outcome.isWritten) break;
    if (found === undefined || found.version < mine.version) continue;
    // An earlier try may have been written, and replaced since. Then its parts are gone.
    outdated.push(mine);
    mine = await writeParts(at, nextVersion(found.version), bytes);
  }
  await deleteOutdated(at, outdated);
}

/** Of several removals at once, one resolves with true. */
async function removeLetter(at: LetterAddress): Promise<boolean> {
  const item = await getLetterItem(at);
  if (item?.position === undefined) return false;
  const removal = randomUUID();
  const outcome = await buryLetterItem(at, item, removal);
  const found = outcome.isWritten ? undefined : readLetterItem(outcome.found);
  // The answer to an earlier try may have been lost.
  const isMine = outcome.isWritten || found?.removal === removal;
  if (isMine) await deleteOutdated(at, [item]);
  // A letter that was written since the read stays, as after a removal that came just before it.
  return isMine || found?.position !== undefined;
}

/** The operation has been done, so it neither fails nor waits long for the parts of old versions. */
async function deleteOutdated(at: LetterAddress, versions: readonly LetterVersion[]): Promise<void> {
  const split = versions.filter(({ parts }) => parts > 0);
  if (split.length === 0) return;
  const later = { ...at, session: at.session.anew() };
  await settledWithin(tidied(Promise.all(split.map((version) => deleteParts(later, version)))), TIDYING_MS);
}

/** Resolves with the text of a letter; with an empty one if it is damaged, or parts of it are missing. */
async function readLetter(at: LetterAddress): Promise<string | undefined> {
  let last: string | undefined;
  for (;;) {
    const item = await getLetterItem(at);
    if (item?.position === undefined) return undefined;
    const bytes = item.parts === 0 ? item.bytes : await readParts(at, item);
    if (bytes !== undefined) return decompress(bytes);
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
  let place = lastPlace === '' ? await placeOf({ session, scope, key: last }) : lastPlace;
  for (;;) {
    const next = await nextLetterKey(session, scope, place);
    if (next === undefined) return undefined;
    const { key, position } = next;
    const text = await readLetter({ session, scope, key });
    if (text !== undefined) return { key, text, place: position };
    place = position;
  }
}

/** The place of a letter, which may have been removed; before all letters if it is not known. */
async function placeOf(at: LetterAddress): Promise<string> {
  if (at.key === '') return '';
  const item = await getLetterItem(at);
  return item?.position ?? item?.lastPosition ?? '';
}
