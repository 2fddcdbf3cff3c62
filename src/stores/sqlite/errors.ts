import { ConfigurationError } from '../../receiver/errors.ts';
import { isInstance, messageOf, propertyOf } from '../../receiver/values/foreign-values.ts';

/** The primary result codes that posthorn knows: https://sqlite.org/rescode.html. */
const resultCodes = [
  { number: 5, name: 'SQLITE_BUSY' },
  { number: 6, name: 'SQLITE_LOCKED' },
  { number: 8, name: 'SQLITE_READONLY' },
  { number: 10, name: 'SQLITE_IOERR' },
  { number: 11, name: 'SQLITE_CORRUPT' },
  { number: 13, name: 'SQLITE_FULL' },
  { number: 14, name: 'SQLITE_CANTOPEN' },
  { number: 26, name: 'SQLITE_NOTADB' },
] as const;

type ResultCode = (typeof resultCodes)[number]['name'];

/**
 * The primary result code of an error. `node:sqlite` gives the number of the extended code, whose lowest byte
 * is the primary one; better-sqlite3 gives the name of the extended code, which begins with that of the
 * primary one.
 */
function resultCodeOf(error: unknown): ResultCode | undefined {
  const extended = propertyOf(error, 'errcode');
  const extendedName = `${String(propertyOf(error, 'code'))}_`;
  return resultCodes.find(({ number, name }) =>
    typeof extended === 'number' ? (extended & 0xff) === number : extendedName.startsWith(`${name}_`),
  )?.name;
}

/** Another connection has a lock: the same work can succeed a moment later. */
export function isBusy(error: unknown): boolean {
  const code = resultCodeOf(error);
  return code === 'SQLITE_BUSY' || code === 'SQLITE_LOCKED';
}

/** BEGIN, or a setting that no transaction may change, came in a transaction that had begun before. */
export function isInsideTransaction(error: unknown): boolean {
  return /\b(within|inside) a transaction\b/.test(messageOf(error));
}

const DAMAGED = 'the file is damaged, or is not a database of SQLite: restore it from a backup';

const explanations: { readonly [Code in ResultCode]?: string } = {
  SQLITE_READONLY: 'the file is read-only for this process, which must be able to write it and its directory',
  SQLITE_IOERR: 'the disk failed to read or write: check it, and that it is a local one',
  SQLITE_CORRUPT: DAMAGED,
  SQLITE_NOTADB: DAMAGED,
  SQLITE_FULL: 'the disk is full',
  SQLITE_CANTOPEN: 'the file cannot be opened: check that its directory is there and can be written',
};

/** The messages of `node:sqlite` and better-sqlite3 about a connection, or its statements, after `close`. */
const CLOSED = /\b(database( connection)? is not open|statement has been finalized|closed database)\b/i;

/** Says what to do about an error; returns one that says it already as it is. */
export function explain(error: unknown): Error {
  if (isInstance(error, ConfigurationError)) return error;
  const reason = messageOf(error);
  const explanation = explanationOf(error, reason);
  return explanation === undefined
    ? new Error(reason, { cause: error })
    : new ConfigurationError(`${explanation} (SQLite: ${reason})`, { cause: error });
}

function explanationOf(error: unknown, reason: string): string | undefined {
  if (isInsideTransaction(error)) {
    return (
      'the connection is inside a transaction of the application, which would take in what posthorn writes: ' +
      'give posthorn a connection of its own'
    );
  }
  if (CLOSED.test(reason)) return 'the database is closed: close it after receiver.close()';
  if (/no such table: posthorn_/.test(reason)) {
    return (
      'the tables of posthorn are missing in this file: call migrateSqlite(database), ' +
      'or run "npx posthorn sqlite migrate FILE"'
    );
  }
  const code = resultCodeOf(error);
  return code === undefined ? undefined : explanations[code];
}

/** The error of work that another connection has kept from its lock for all of its time. */
export function lockedError(limitMs: number): Error {
  return new Error(
    `another process or connection has had the file locked for ${Math.round(limitMs)} ms: ` +
      'keep transactions that write short, and let none wait for anything while it is open',
  );
}

/** The error of work that has not been tried, because other work on its connection went first. */
export function turnError(waitedMs: number): Error {
  return new Error(
    `its turn has not come for ${Math.round(waitedMs)} ms: more events come than the disk can take, or another ` +
      'process or connection keeps the file locked; use a faster disk, or a store on a server',
  );
}
