import { d1Migration } from 'posthorn/d1';
import { beforeEach } from 'vitest';
import type { Connection } from '../sqlite/connection.ts';
import { useSqlite } from '../sqlite/fixture.ts';
import { LocalD1 } from './binding.ts';

/** A database of D1 that lives as long as a test. */
export interface D1Fixture {
  readonly connection: Connection;
  readonly binding: LocalD1;
  /** Another Worker's binding to the same database. */
  readonly another: () => LocalD1;
}

/** Gives each test of a block a database of its own, with the tables of posthorn after these migrations. */
export function useD1(migrations: readonly string[] = [d1Migration]): D1Fixture {
  const files = useSqlite();
  let connection: Connection;
  let binding: LocalD1;
  beforeEach(() => {
    connection = files.open();
    connection.exec('pragma journal_mode = wal; pragma synchronous = off');
    connection.exec(migrations.join(''));
    binding = new LocalD1(connection);
  });
  return {
    get connection() {
      return connection;
    },
    get binding() {
      return binding;
    },
    another: () => new LocalD1(connection),
  };
}
