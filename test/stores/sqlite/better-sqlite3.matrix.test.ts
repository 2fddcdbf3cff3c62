import { spawnSync } from 'node:child_process';
import { symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { createSqliteInbox, migrateSqlite, type SqliteStatement } from 'posthorn/sqlite';
import { createEvent } from 'posthorn/testing';
import { describe, expect, test } from 'vitest';
import { copyPackage } from '../../support/copied-package.ts';
import { openEndpoint } from '../../support/open-endpoint.ts';
import { Connection, type Driver, type DriverConnection, type OpenDatabase, safely } from './connection.ts';
import { testFaults, testFullDisk } from './fault-tests.ts';
import { useSqlite } from './fixture.ts';
import { testLatest } from './inbox-latest-tests.ts';
import { testRerunsInSqlite } from './inbox-rerun-tests.ts';
import { testInbox } from './inbox-tests.ts';
import { testTransactions } from './inbox-transaction-tests.ts';
import { driverFolder, untilInstalled } from './install-driver.ts';
import { testJournal } from './journal-tests.ts';
import { book, bookings, createLedger, recordsOf } from './ledger.ts';
import { testMovedFile } from './moved-file-tests.ts';
import { testDeadLetters, testStore } from './store-tests.ts';
import { testTurns } from './turns-tests.ts';

await untilInstalled();
/** More of a connection than other tests use. */
interface WholeConnection extends DriverConnection {
  /** Nests by savepoints. */
  transaction(work: () => void): () => void;
  prepare(sql: string): SqliteStatement & { iterate(): Iterator<unknown> };
}

const Database: Driver & (new (path: string) => WholeConnection) =
  createRequire(driverFolder)('better-sqlite3');

const openDatabase: OpenDatabase = (path, options) =>
  new Connection(new Database(path, { timeout: 5_000, ...options }));

describe('on better-sqlite3', () => {
  testStore(openDatabase, { walks: 300 });
  testDeadLetters(openDatabase);
  testInbox(openDatabase);
  testLatest(openDatabase);
  testRerunsInSqlite(openDatabase);
  testTransactions(openDatabase);
  testFaults(openDatabase);
  testFullDisk(openDatabase);
  testMovedFile(openDatabase);
  testTurns(openDatabase);
  testJournal(openDatabase, { walks: 200 });

  describe('that gives bigints', () => {
    testStore(safely(openDatabase), { walks: 1 });
    testDeadLetters(safely(openDatabase));
    testInbox(safely(openDatabase));
    testJournal(safely(openDatabase), { walks: 1 });
  });

  describe('a handler of an inbox that calls database.transaction()', () => {
    const fixture = useSqlite(openDatabase);

    test.each([
      { name: 'commits with it', fails: '', rows: 2 },
      {
        name: 'goes on after one that has failed',
        fails: "insert into names values ('one'), ('one')",
        rows: 1,
      },
      {
        name: 'fails after INSERT OR ROLLBACK in it',
        fails: 'insert or rollback into names values (1), (1)',
      },
    ])('$name', async ({ fails, rows = 0 }) => {
      const database = new Database(fixture.path);
      await migrateSqlite(database);
      createLedger(database);
      database.exec('create table names (name text unique)');
      const event = createEvent('transfer.succeeded');
      const nested = database.transaction(() => {
        book(event, database);
        database.exec(fails);
      });
      const { send } = await openEndpoint({}, (receiver) => {
        const once = createSqliteInbox(database, { scope: 'nested' }).once('book', (_event, context) => {
          book(event, context.database);
          if (fails === '') nested();
          else expect(nested).toThrow(/UNIQUE/);
        });
        receiver.on('transfer.*', once);
      });
      expect((await send(event)).status).toBe(rows > 0 ? 200 : 500);
      expect([bookings(database, event), recordsOf(database, event)]).toEqual([
        rows,
        rows > 0 ? ['book'] : [],
      ]);
      database.close();
    });
  });

  describe('an inbox', () => {
    const fixture = useSqlite(openDatabase);

    test('has no record of a handler that leaves an iterator open, which keeps the connection busy', async () => {
      const database = new Database(fixture.path);
      await migrateSqlite(database);
      createLedger(database);
      let rows: Iterator<unknown> | undefined;
      const { send, reports } = await openEndpoint({}, (receiver) => {
        const once = createSqliteInbox(database, { scope: 'open' }).once('book', (event, context) => {
          book(event, context.database);
          rows = database.prepare('select 1 union select 2').iterate();
          rows.next();
        });
        receiver.on('transfer.*', once);
      });
      const event = createEvent('transfer.succeeded');
      expect((await send(event)).status).toBe(500);
      expect(reports.all[0]?.error?.cause).toMatchObject({
        name: 'TypeError',
        message: expect.stringContaining('busy executing a query'),
      });
      rows?.return?.();
      database.exec('rollback');
      expect([bookings(database, event), recordsOf(database, event)]).toEqual([0, []]);
      database.close();
    });
  });

  describe('the program', () => {
    const fixture = useSqlite(openDatabase);

    test('makes the tables, and lists the letters', () => {
      const copy = copyPackage();
      symlinkSync(
        join(driverFolder, 'node_modules', 'better-sqlite3'),
        join(copy.project, 'node_modules', 'better-sqlite3'),
      );
      const bin = join(copy.root, 'dist', 'src', 'cli', 'bin.js');
      const run = (...args: string[]) => {
        const { status, stdout, stderr } = spawnSync(process.execPath, [bin, ...args], { encoding: 'utf8' });
        return { status, stdout, stderr };
      };
      expect(run('sqlite', 'migrate', fixture.path)).toEqual({
        status: 0,
        stdout: `created the tables of version 1 in ${fixture.path}\n`,
        stderr: '',
      });
      const place = ['--scope', 'billing-test', '--sqlite', fixture.path];
      const { status, stdout } = run('dead-letters', 'list', ...place, '--json');
      expect([status, JSON.parse(stdout)]).toEqual([
        0,
        { kind: 'summary', letters: 0, running: 0, old: 0, missing: 0, more: false },
      ]);
      copy.remove();
    });
  });
});
