import { randomUUID } from 'node:crypto';
import { createSqliteJournal } from 'posthorn/sqlite';
import { beforeEach, describe, expect, test } from 'vitest';
import { readAll } from '../../support/read-all.ts';
import { ampleJournal, createRecord, type OpenJournal, writeAll } from '../kit/journal/journal-case.ts';
import { expectLikeMergeRecords } from '../kit/journal/merge-property.ts';
import { journalConformance } from '../kit/journal-conformance.ts';
import type { Connection, OpenDatabase } from './connection.ts';
import { useSqlite } from './fixture.ts';
import { turnsOf } from './turns-of.ts';

/** Tests the promises of every journal; `walks` is the number of random lists of records that are merged. */
export function testJournal(openDatabase: OpenDatabase, { walks }: { readonly walks: number }): void {
  describe('the journal in SQLite', () => {
    const fixture = useSqlite(openDatabase);
    let database: Connection;
    beforeEach(async () => {
      database = await fixture.openMigrated();
    });

    const open: OpenJournal = (options) =>
      createSqliteJournal(database, { scope: randomUUID(), ...ampleJournal, ...options });

    test.each(journalConformance)('$name', ({ check }) => check(open));

    test('gives the event loop a turn after 20 entries with bodies of a list', async () => {
      const journal = open();
      await writeAll(
        journal,
        Array.from({ length: 200 }, () => createRecord()),
      );
      expect(await turnsOf(() => readAll(journal.list()))).toBeGreaterThanOrEqual(11);
    });

    test('joins records in any order as receivers do', () => expectLikeMergeRecords(open, walks));
  });
}
