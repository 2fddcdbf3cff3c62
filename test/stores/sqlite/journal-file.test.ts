import { randomUUID } from 'node:crypto';
import { createSqliteJournal, createSqliteStore, migrateSqlite } from 'posthorn/sqlite';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import {
  deleteOldEntries,
  findEntries,
  lookAtEntries,
  readEntries,
} from '../../../src/stores/sqlite/journal/statements.ts';
import { errorOf } from '../../support/error-of.ts';
import { fakeTime } from '../../support/fake-time.ts';
import { ampleTime } from '../../support/limits.ts';
import { ampleJournal, createRecord, idsOf, write, writeAll } from '../kit/journal/journal-case.ts';
import { createEarlierTables } from './earlier-tables.ts';
import { useSqlite } from './fixture.ts';

const scope = 'journal-test';
const lease = { token: 'a', leaseMs: 60_000, retentionMs: 600_000 };

describe('a file of the version that had no journal', () => {
  const fixture = useSqlite();

  /** As posthorn 0.3.0 has made it. */
  const openEarlier = () => {
    const database = fixture.open();
    createEarlierTables(database, []);
    return database;
  };

  test('gets its table while a process of that version works, which may also start later', async () => {
    const store = createSqliteStore(openEarlier(), { scope, ...ampleTime });
    expect(await store.claim({ id: 'evt', ...lease })).toMatchObject({ state: 'claimed' });
    const migrating = Array.from({ length: 3 }, () => fixture.open());
    await Promise.all([store.renew({ id: 'evt', ...lease }), ...migrating.map(migrateSqlite)]);
    expect(await store.complete({ id: 'evt', ...lease })).toEqual({ state: 'completed' });
    // The earlier version starts with a file whose version is 1 and no other.
    const versions = fixture.open().prepare('select version from posthorn_migrations').all();
    expect(versions.map((row) => Object.values(Object(row)))).toEqual([[1]]);
    const journal = createSqliteJournal(fixture.open(), { scope, ...ampleJournal });
    await write(journal, createRecord({ id: 'evt' }));
    expect(await idsOf(journal)).toEqual(['evt']);
  });

  test('is not taken for one with a journal: the message says to migrate', async () => {
    const database = openEarlier();
    const journal = createSqliteJournal(database, { scope, ...ampleJournal });
    const missing = errorOf(
      'journal_unavailable',
      'call migrateSqlite(database), or run "npx posthorn sqlite',
    );
    await expect(write(journal, createRecord())).rejects.toMatchObject(missing);
    await expect(journal.get('evt')).rejects.toMatchObject(missing);
    await expect(idsOf(journal)).rejects.toMatchObject(missing);
    await expect(journal.prune({ olderThanMs: 0 })).rejects.toMatchObject(missing);
    await migrateSqlite(database);
    await write(journal, createRecord({ id: 'evt' }));
    expect(await idsOf(journal)).toEqual(['evt']);
  });
});

describe('the journal in a file', () => {
  const fixture = useSqlite();

  test('is written over several connections at once, which count exactly', async () => {
    await fixture.openMigrated();
    const journals = [1, 2, 3].map(() => createSqliteJournal(fixture.open(), { scope, ...ampleJournal }));
    const records = Array.from({ length: 10 }, (_, index) => createRecord({ id: `evt_${index}` }));
    await Promise.all(journals.flatMap((journal) => [1, 2].map(() => write(journal, ...records))));
    for (const { id } of records) expect(await journals[0]?.get(id)).toMatchObject({ deliveries: 6 });
  });

  test('that another connection has locked is given up in time, and a batch written again counts once', async () => {
    const database = await fixture.openMigrated();
    const locking = fixture.open();
    locking.exec('begin immediate');
    const batch = { batchId: randomUUID(), records: [createRecord({ id: 'evt' })] };
    const hasty = createSqliteJournal(database, { ...ampleJournal, scope, commandTimeoutMs: 50 });
    const locked = errorOf(
      'journal_unavailable',
      'another process or connection has had the file locked for 50 ms',
    );
    await expect(hasty.record(batch)).rejects.toMatchObject(locked);
    // The receiver may give up earlier than the journal: then both writes come through.
    const journal = createSqliteJournal(database, { scope, ...ampleJournal });
    const both = Promise.all([journal.record(batch), journal.record(batch)]);
    locking.exec('rollback');
    await both;
    expect(await journal.get('evt')).toMatchObject({ deliveries: 1 });
  });

  test('deletes what is older than retentionMs, 50 at a time, as receivers write', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(0);
    onTestFinished(() => void vi.restoreAllMocks());
    const pass = fakeTime();
    const database = await fixture.openMigrated();
    const old = Date.now() - 3_700_000;
    const records = Array.from({ length: 125 }, (_, index) =>
      createRecord({ id: `old_${index}`, firstReceivedAt: old + index }),
    );
    await writeAll(createSqliteJournal(database, { scope, ...ampleJournal }), records);
    const journal = createSqliteJournal(database, { scope, ...ampleJournal, retentionMs: 3_600_000 });
    const young = createRecord({ id: 'young', firstReceivedAt: Date.now() - 3_000_000 });
    const leftAfterWrite = async () => {
      await write(journal, young);
      await pass(20);
      return (await idsOf(journal)).length;
    };
    expect(await leftAfterWrite()).toBe(76);
    expect(await leftAfterWrite()).toBe(76);
    await pass(100);
    expect(await leftAfterWrite()).toBe(26);
    await pass(100);
    expect(await leftAfterWrite()).toBe(1);
    expect(await idsOf(journal)).toEqual(['young']);
  });

  test('reads neither bodies nor headers for a list without them', () => {
    expect(readEntries(scope, ['evt'], false).sql).not.toMatch(/raw_body|headers/);
  });

  const selection = {
    type: 'a.b',
    outcome: undefined,
    since: 1,
    until: 9,
    after: undefined,
    limit: 1,
    bodies: true,
  };
  const place = { firstReceivedAt: 1, key: 'evt' };

  test.each([
    { what: 'an entry', index: /autoindex.*by_id/s, of: findEntries(scope, 'evt', 'evt') },
    { what: 'entries of a list', index: /autoindex/, of: readEntries(scope, ['evt'], true) },
    { what: 'entries without bodies', index: /autoindex/, of: readEntries(scope, ['evt'], false) },
    {
      what: 'a list',
      index: /_in_order \(scope=\? AND \(first_received_at,key\)/,
      of: lookAtEntries(scope, { ...selection, resource: undefined }, place),
    },
    {
      what: 'a resource',
      index: /_by_resource \(scope=\? AND resource=\? AND /,
      of: lookAtEntries(scope, { ...selection, resource: 'r' }, place),
    },
    {
      what: 'old ones',
      index: /_in_order \(scope=\? AND first_received_at</,
      of: deleteOldEntries(scope, 1, 50),
    },
  ])('finds $what by an index', async ({ index, of: { sql, values } }) => {
    const database = await fixture.openMigrated();
    const rows = database.prepare(`explain query plan ${sql}`).all(...values);
    const plan = rows.map((row) => String(Object.values(Object(row))[3])).join('\n');
    expect(plan).toMatch(index);
    expect(plan).not.toMatch(/SCAN posthorn|TEMP B-TREE/);
  });
});
