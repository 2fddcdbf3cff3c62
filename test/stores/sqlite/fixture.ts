import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { migrateSqlite } from 'posthorn/sqlite';
import { afterEach, beforeEach } from 'vitest';
import type { Connection, OpenDatabase } from './connection.ts';
import { openDatabase } from './driver.ts';

/** A file of SQLite that lives as long as a test. */
export interface SqliteFixture {
  readonly path: string;
  /** Opens a connection, which is closed at the end of the test. */
  readonly open: () => Connection;
  /** The same, with the tables of posthorn. */
  readonly openMigrated: () => Promise<Connection>;
}

/** Gives each test of a block a file of its own, which libsql or another driver opens. */
export function useSqlite(openWith: OpenDatabase = openDatabase): SqliteFixture {
  let directory = '';
  const opened: Connection[] = [];
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'posthorn-sqlite-'));
  });
  afterEach(() => {
    for (const connection of opened.splice(0)) connection.close();
    rmSync(directory, { recursive: true });
  });
  const open = (): Connection => {
    const connection = openWith(join(directory, 'events.db'));
    opened.push(connection);
    return connection;
  };
  return {
    get path() {
      return join(directory, 'events.db');
    },
    open,
    openMigrated: async () => {
      const connection = open();
      await migrateSqlite(connection);
      return connection;
    },
  };
}
