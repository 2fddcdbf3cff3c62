import type { SqliteDatabase, SqliteStatement } from 'posthorn/sqlite';
import { until } from '../../support/until.ts';

/** A connection that tells how often posthorn has tried to begin a transaction on it. */
export interface WatchedDatabase extends SqliteDatabase {
  /** Resolves once another try has failed that began after this call. */
  readonly triedAgain: () => Promise<void>;
}

/** Watches what waits for the lock of another connection. */
export function watch(database: SqliteDatabase): WatchedDatabase {
  let tries = 0;
  return {
    exec: (sql) => database.exec(sql),
    prepare: (sql) => {
      const statement = database.prepare(sql);
      const begin: SqliteStatement['run'] = () => {
        tries += 1;
        return statement.run();
      };
      return sql === 'begin immediate' ? { ...statement, run: begin } : statement;
    },
    triedAgain: () => {
      const before = tries;
      return until('posthorn has tried again', () => tries > before + 1);
    },
  };
}
