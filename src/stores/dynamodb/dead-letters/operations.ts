import { randomUUID } from 'node:crypto';
import { SharedCall } from '../../../receiver/timing/shared-call.ts';
import { settledWithin } from '../../../receiver/timing/time-limit.ts';
import type { StoredLetter, StoredText } from '../../kit/ordered-list.ts';
import type { LetterOperations } from '../../kit/server-dead-letters.ts';
import type { DynamoConnection } from '../connection.ts';
import { refusalWithoutItem } from '../errors.ts';
import { compress, decompress } from './letter-bytes.ts';
import {
  countLetters,
  getLetterItem,
  type LetterItem,
  nextLetterKey,
  putLetterItem,
  readLetterItem,
  removeLetterItem,
} from './letter-item.ts';
import { createVersions, type NextVersion } from './letter-version.ts';
import {
  deleteParts,
  ignoringErrors,
  type LetterAddress,
  type LetterVersion,
  readParts,
  writeParts,
} from './part-items.ts';

/** Runs operations on letters, each within a time limit of its own. */
export class DynamoLetterOperations implements LetterOperations {
  readonly #connection: DynamoConnection;
  readonly #scope: string;
  readonly #nextVersion: NextVersion = createVersions();
  /** True once the index was read: without the index no letter could be listed. */
  #hasIndex = false;
  readonly #readIndex = new SharedCall(async () => {
    await this.count(1);
    this.#hasIndex = true;
  });

  constructor(connection: DynamoConnection, scope: string) {
    this.#connection = connection;
    this.#scope = scope;
  }

  async put(key: string, text: string, parkedAt: number): Promise<void> {
    const at = this.#address(key);
    if (!this.#hasIndex) await this.#readIndex.ask();
    await putLetter(at, await compress(text), parkedAt, this.#nextVersion);
  }

  async get(key: string): Promise<StoredText | undefined> {
    const text = await readLetter(this.#address(key));
    return text === undefined ? undefined : { text };
  }

  remove(key: string): Promise<boolean> {
    return removeLetter(this.#address(key));
  }

  async next(last: string, lastPlace: string): Promise<StoredLetter | undefined> {
    const at = this.#address(last);
    let place = lastPlace === '' ? await placeOf(at) : lastPlace;
    for (;;) {
      const next = await nextLetterKey(at.connection, this.#scope, place);
      if (next === undefined) return undefined;
      const text = await readLetter({ ...at, key: next.key });
      if (text !== undefined) return { ...next, text };
      // The letter was removed while it was looked up.
      ({ place } = next);
    }
  }

  count(limit: number): Promise<number> {
    return countLetters(this.#connection.withNewLimit(), this.#scope, limit);
  }

  /** The address of a letter, for one operation. */
  #address(key: string): LetterAddress {
    return { connection: this.#connection.withNewLimit(), scope: this.#scope, key };
  }
}

/** A receiver waits for two seconds: tidying must not make a letter that is stored count as failed. */
const TIDYING_MS = 200;

/** The parts come first, because nothing reads them before the letter's item names them. */
async function putLetter(
  at: LetterAddress,
  bytes: Buffer,
  parkedAt: number,
  nextVersion: NextVersion,
): Promise<void> {
  /** Versions that no item names once the letter is stored. */
  const outdated: LetterVersion[] = [];
  let written = await writeParts(at, nextVersion(), bytes);
  /** The item in the letter's place, as the last refusal has shown it. */
  let present: LetterItem | undefined;
  for (;;) {
    const outcome = await putLetterItem(at, written, parkedAt, present);
    if (outcome.isWritten) {
      const replaced = readLetterItem(outcome.old);
      if (replaced !== undefined && replaced.version !== written.version) outdated.push(replaced);
      break;
    }
    if (outcome.found === undefined && present === undefined) throw refusalWithoutItem();
    present = readLetterItem(outcome.found);
    if (present === undefined) continue;
    // The answer to an earlier try was lost. The letter may have been removed since.
    if (present.version === written.version) break;
    outdated.push(present);
    if (present.version < written.version) continue;
    // An earlier try may have been stored, and replaced since. Then its parts are gone.
    outdated.push(written);
    written = await writeParts(at, nextVersion(present.version), bytes);
  }
  await deleteOutdated(at, outdated);
}

/** If several removals run at once, only one resolves with true, unless the letter is written meanwhile. */
async function removeLetter(at: LetterAddress): Promise<boolean> {
  const letter = await getLetterItem(at);
  if (letter?.position === undefined) return false;
  const removal = randomUUID();
  const outcome = await removeLetterItem(at, letter, removal);
  const present = outcome.isWritten ? undefined : readLetterItem(outcome.found);
  // The answer to an earlier try may have been lost: then the tombstone names this removal.
  if (outcome.isWritten || present?.removal === removal) {
    await deleteOutdated(at, [letter]);
    return true;
  }
  // A letter that was written after the read stays: it counts as written after the removal.
  return present?.position !== undefined;
}

/** The operation has been done, so it neither fails nor waits long for the parts of old versions. */
async function deleteOutdated(at: LetterAddress, versions: readonly LetterVersion[]): Promise<void> {
  const split = versions.filter(({ parts }) => parts > 0);
  if (split.length === 0) return;
  const later = { ...at, connection: at.connection.withNewLimit() };
  await settledWithin(
    ignoringErrors(Promise.all(split.map((version) => deleteParts(later, version)))),
    TIDYING_MS,
  );
}

/** Resolves with the text of a letter; with an empty one if it is damaged, or parts of it are missing. */
async function readLetter(at: LetterAddress): Promise<string | undefined> {
  let versionBefore: string | undefined;
  for (;;) {
    const item = await getLetterItem(at);
    if (item?.position === undefined) return undefined;
    const bytes = item.parts === 0 ? item.bytes : await readParts(at, item);
    if (bytes !== undefined) return decompress(bytes);
    // If the version has changed, the letter was written anew meanwhile. If not, it is damaged.
    if (item.version === versionBefore) return '';
    versionBefore = item.version;
  }
}

/** The place of a letter, which may have been removed; before all letters if it is not known. */
async function placeOf(at: LetterAddress): Promise<string> {
  if (at.key === '') return '';
  const item = await getLetterItem(at);
  return item?.position ?? item?.lastPosition ?? '';
}
