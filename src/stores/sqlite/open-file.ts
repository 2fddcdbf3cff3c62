import { statSync } from 'node:fs';
import { ConfigurationError } from '../../receiver/errors.ts';
import type { SqliteDatabase } from './client.ts';

/**
 * The file that a connection has open. SQLite goes on writing to a file that was deleted or moved, which no
 * process can find again.
 */
export class OpenFile {
  readonly path: string;
  readonly #identity: string | undefined;

  private constructor(path: string) {
    this.path = path;
    this.#identity = identityOf(path);
  }

  /** Returns undefined for a database in memory or in a temporary file, which has no path. */
  static of(database: SqliteDatabase): OpenFile | undefined {
    // The first row is that of `main`: https://sqlite.org/pragma.html#pragma_database_list. Unlike the table
    // pragma_database_list, the statement does not read the file.
    const [, , path] = Object.values(database.prepare('pragma database_list').get() ?? {});
    return typeof path === 'string' && path !== '' ? new OpenFile(path) : undefined;
  }

  /** Throws ConfigurationError if the file of the connection is not under its path. */
  check(): void {
    if (this.#identity !== undefined && identityOf(this.path) === this.#identity) return;
    throw new ConfigurationError(
      `the file ${this.path} was deleted or moved, or replaced by another one, while this process had it open: ` +
        'what it writes now would be lost; put the file back, or restart the process, which then opens the file ' +
        'that is there',
    );
  }
}

/** Returns device and inode, as bigints because numbers round large inodes; undefined for a missing file. */
function identityOf(path: string): string | undefined {
  const stat = statSync(path, { bigint: true, throwIfNoEntry: false });
  return stat === undefined ? undefined : `${stat.dev}:${stat.ino}`;
}
