import type { DeadLetters } from '../../../receiver/dead-letters/dead-letters.ts';
import { createServerDeadLetters } from '../../kit/server-dead-letters.ts';
import { readServerOptions } from '../../kit/server-options.ts';
import { checkDatabase, type SqliteDatabase } from '../client.ts';
import { type Row, SqliteConnection } from '../connection.ts';
import { explain } from '../errors.ts';
import { retryWhileBusy } from '../retry-while-busy.ts';
import { writeInTurn } from '../single-write.ts';
import {
  countLetters,
  FORGET_REMOVED,
  getLetter,
  nextHeads,
  nextLetter,
  putLetter,
  removeLetter,
} from './statements.ts';

/** Options of {@link createSqliteDeadLetters}. */
export interface SqliteDeadLettersOptions {
  /**
   * Names the application and its environment: 1 to 64 letters, digits, `.`, `_` or `-`.
   * The SQLite store may have the same scope.
   */
  readonly scope: string;
  /**
   * The time after which an operation counts as failed, in milliseconds; 5,000 by default. That
   * includes the time during which another process has the file locked.
   */
  readonly commandTimeoutMs?: number | undefined;
}

/** The heads that are read together. SQLite reads whole texts, and blocks the event loop meanwhile. */
const MOST_HEADS = 20;

/**
 * Keeps dead letters in a file of SQLite. They do not expire. `list` can continue `after` one that was
 * removed within the last day. `migrateSqlite` creates the table. Operations reject with DeadLetterError.
 *
 * @throws ConfigurationError if the database is not a connection of `node:sqlite` or better-sqlite3, and for
 * a wrong or missing option.
 *
 * @example
 * ```ts
 * import { createReceiver } from 'posthorn';
 * import { createSqliteDeadLetters } from 'posthorn/sqlite';
 *
 * const deadLetters = createSqliteDeadLetters(database, { scope: 'billing-production' });
 * const receiver = createReceiver({ signingKey, deadLetters });
 * ```
 */
export function createSqliteDeadLetters(
  database: SqliteDatabase,
  options: SqliteDeadLettersOptions,
): DeadLetters {
  checkDatabase('createSqliteDeadLetters', database);
  const { scope, commandTimeoutMs } = readServerOptions('createSqliteDeadLetters', options, 5_000);
  const connection = SqliteConnection.of(database);
  const run = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    try {
      return await work();
    } catch (error) {
      throw explain(error);
    }
  };

  const read = <Result>(work: () => Result): Promise<Result> =>
    run(() => retryWhileBusy(commandTimeoutMs, () => connection.read(work)));
  const write = (work: () => Row | undefined): Promise<Row | undefined> =>
    run(() =>
      writeInTurn(connection, 'operation', { limitMs: commandTimeoutMs }, () => connection.write(work)),
    );

  return createServerDeadLetters('SQLite', scope, {
    async put(key, text, parkedAt) {
      const statement = putLetter(scope, key, { parkedAt, text });
      await write(() => connection.first(statement));
    },

    async get(key) {
      const found = await read(() => connection.first(getLetter(scope, key)));
      return found && { text: String(found[1]) };
    },

    async remove(key) {
      const removed = await write(() => {
        connection.run(FORGET_REMOVED);
        return connection.first(removeLetter(scope, key));
      });
      return removed !== undefined;
    },

    async next(last, lastPlace) {
      const found = await read(() => connection.first(nextLetter(scope, last, lastPlace)));
      const [key, text, place] = (found ?? []).map(String);
      if (key === undefined || text === undefined || place === undefined) return undefined;
      return { key, text, place };
    },

    async heads(last, lastPlace, most) {
      const heads = nextHeads(scope, last, lastPlace, Math.min(most, MOST_HEADS));
      const found = await read(() => connection.all(heads));
      return found.map(([key, head, place]) => ({
        key: String(key),
        head: String(head),
        place: String(place),
      }));
    },

    async count(limit) {
      return Number((await read(() => connection.first(countLetters(scope, limit))))?.[0]);
    },
  });
}
