import { propertyOf } from '../../../receiver/values/foreign-values.ts';
import type { StoredLetter } from '../../kit/ordered-list.ts';
import type { LetterOperations } from '../../kit/server-dead-letters.ts';
import {
  countLetters,
  FORGET_REMOVED,
  getLetter,
  nextLetter,
  putLetter,
  removeLetter,
} from '../../sqlite/dead-letters/statements.ts';
import type { SqlStatement } from '../../sqlite/statement.ts';
import type { D1Connection, Rows } from '../connection.ts';
import { TablesVersion } from '../tables-version.ts';
import { failIfLate, getParts, isLate, putParts, READ_TIME, removeParts } from './statements.ts';
import { joinParts, splitText } from './text-in-parts.ts';

/**
 * Runs operations on dead letters. A dead letter that is too long for a row is in parts, and its own text is
 * empty.
 */
export class D1LetterOperations implements LetterOperations {
  readonly #connection: D1Connection;
  readonly #scope: string;
  readonly #tables: TablesVersion;

  constructor(connection: D1Connection, scope: string) {
    this.#connection = connection;
    this.#scope = scope;
    this.#tables = new TablesVersion(connection);
  }

  async put(key: string, text: string, parkedAt: number): Promise<void> {
    const parts = splitText(text);
    const row = { parkedAt, text: parts.length === 0 ? text : '' };
    await this.#write(async () => [
      putLetter(this.#scope, key, row),
      removeParts(this.#scope, key),
      ...putParts(this.#scope, key, parts, await this.#tables.isCurrent()),
    ]);
  }

  /**
   * A dead letter and its parts are read in one transaction: it is whole even if another one takes its place.
   */
  async get(key: string): Promise<StoredLetter | undefined> {
    const statements = [getLetter(this.#scope, key), getParts(this.#scope, key)];
    const [[row] = [], parts = []] = await this.#read(...statements);
    if (row === undefined) return undefined;
    const found = toStoredLetter(row);
    return found.text === '' ? { ...found, ...joinParts(parts) } : found;
  }

  async remove(key: string): Promise<boolean> {
    const statements = [removeLetter(this.#scope, key), removeParts(this.#scope, key), FORGET_REMOVED];
    const [[removed] = []] = await this.#write(async () => statements);
    return removed !== undefined;
  }

  async next(last: string, lastPlace: string): Promise<StoredLetter | undefined> {
    const [[row] = []] = await this.#read(nextLetter(this.#scope, last, lastPlace));
    if (row === undefined) return undefined;
    const found = toStoredLetter(row);
    if (found.text !== '') return found;
    return (await this.get(found.key)) ?? this.next(found.key, found.place);
  }

  async count(limit: number): Promise<number> {
    const [[row] = []] = await this.#read(countLetters(this.#scope, limit));
    return Number(propertyOf(row, 'count'));
  }

  #read(...statements: SqlStatement[]): Promise<Rows> {
    return this.#connection.run(() => this.#connection.send(statements));
  }

  /** Runs statements in one transaction, which does nothing once its caller has given up. */
  #write(prepare: () => Promise<readonly SqlStatement[]>): Promise<Rows> {
    return this.#connection.runInTime(async (lateAfter) => {
      const statements = await prepare();
      try {
        const [[answer] = [], ...rows] = await this.#connection.send([failIfLate(lateAfter), ...statements]);
        this.#connection.setTime(answer);
        return rows;
      } catch (error) {
        if (!isLate(error)) throw error;
      }
      const [[answer] = []] = await this.#connection.send([READ_TIME]);
      this.#connection.setTime(answer);
      return undefined;
    });
  }
}

function toStoredLetter(row: unknown): StoredLetter {
  const text = (name: string): string => String(propertyOf(row, name));
  return { key: text('key'), text: text('letter'), place: text('place') };
}
