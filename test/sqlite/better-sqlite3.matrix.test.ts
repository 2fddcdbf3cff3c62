import { spawnSync } from 'node:child_process';
import { symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { copyPackage } from '../support/copied-package.ts';
import { Connection, type Driver, type OpenDatabase } from './connection.ts';
import { testFaults, testFullDisk } from './fault-tests.ts';
import { useSqlite } from './fixture.ts';
import { testLatest } from './inbox-latest-tests.ts';
import { testInbox } from './inbox-tests.ts';
import { driverFolder, untilInstalled } from './install-driver.ts';
import { testDeadLetters, testStore } from './store-tests.ts';

await untilInstalled();
const Database: Driver = createRequire(driverFolder)('better-sqlite3');

const openDatabase: OpenDatabase = (path, options) =>
  new Connection(new Database(path, { timeout: 5_000, ...options }));

describe('on better-sqlite3', () => {
  testStore(openDatabase, { walks: 300 });
  testDeadLetters(openDatabase);
  testInbox(openDatabase);
  testLatest(openDatabase);
  testFaults(openDatabase);
  testFullDisk(openDatabase);

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
      expect([status, JSON.parse(stdout)]).toEqual([0, { kind: 'summary', letters: 0, running: 0 }]);
      copy.remove();
    });
  });
});
