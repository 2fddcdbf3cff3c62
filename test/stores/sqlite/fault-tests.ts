import { spawnSync } from 'node:child_process';
import fs, { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  createSqliteDeadLetters,
  createSqliteStore,
  migrateSqlite,
  type SqliteDatabase,
} from 'posthorn/sqlite';
import { createEvent } from 'posthorn/testing';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { errorOf } from '../../support/error-of.ts';
import { ampleDeadlines, ampleTime } from '../../support/limits.ts';
import { forwardedClock } from '../../support/monotonic-clock.ts';
import { openEndpoint, sendNew } from '../../support/open-endpoint.ts';
import { readAll } from '../../support/read-all.ts';
import { skipIf } from '../../support/skip-if.ts';
import { createLetter } from '../kit/conformance.ts';
import type { Connection, OpenDatabase } from './connection.ts';
import { useSqlite } from './fixture.ts';
import { watch } from './watched.ts';

const scope = 'faults-test';
const lease = { token: 't', leaseMs: 20_000, retentionMs: 3_600_000 };
const claim = { id: 'evt', ...lease };

/** What an operation on the store, and one on the dead letters, reject with. */
async function failuresOn(database: Connection): Promise<unknown[]> {
  const store = createSqliteStore(database, { scope, ...ampleTime });
  const deadLetters = createSqliteDeadLetters(database, { scope, ...ampleTime });
  const failures = await Promise.allSettled([store.claim(claim), deadLetters.put(createLetter())]);
  return failures.map((failure) => (failure.status === 'rejected' ? failure.reason : 'it succeeded'));
}

const failure = (code: string, message: string) =>
  expect.objectContaining({ code, message: expect.stringContaining(message) });

const failures = (message: string) => [
  failure('store_unavailable', message),
  failure('dead_letters_unavailable', message),
];

/** What the store, the letters and their receiver do if something is wrong with their file. */
export function testFaults(openDatabase: OpenDatabase): void {
  describe('a file of SQLite', () => {
    const fixture = useSqlite(openDatabase);
    let database: Connection;
    beforeEach(async () => {
      database = await fixture.openMigrated();
    });

    /** A receiver with its store and letters in the file. */
    const serve = (
      handled: string[],
      connection: SqliteDatabase = database,
      limit: { commandTimeoutMs: number } = ampleTime,
    ) =>
      openEndpoint(
        {
          ...ampleDeadlines,
          store: createSqliteStore(connection, { scope, ...limit }),
          deadLetters: createSqliteDeadLetters(connection, { scope, ...limit }),
          maxEventAgeMs: Number.POSITIVE_INFINITY,
        },
        (receiver) => receiver.on('*', ({ id }) => void handled.push(id)),
      );

    test('that another process has locked: 503 in time, and the retry is handled', async () => {
      const handled: string[] = [];
      const { send, reports } = await serve(handled, database, { commandTimeoutMs: 500 });
      const other = fixture.open();
      other.exec('begin immediate');
      const event = createEvent('transfer.succeeded');
      expect(await send(event)).toMatchObject({ status: 503, body: { code: 'store_unavailable' } });
      expect(reports.all[0]?.error?.message).toMatch(/has had the file locked for 500 ms: keep transactions/);
      other.exec('rollback');
      expect((await send(event)).status).toBe(200);
      expect(handled).toEqual([event.id]);
    });

    test('that is locked for a moment: the event loop goes on, and the delivery waits for it', async () => {
      const watched = watch(database);
      const { send } = await serve([], watched);
      const other = fixture.open();
      other.exec('begin immediate');
      const answer = send(createEvent('transfer.succeeded'));
      await watched.triedAgain();
      other.exec('rollback');
      expect((await answer).status).toBe(200);
    });

    test('that another process has locked: a process that starts finds its tables up to date all the same', async () => {
      const other = fixture.open();
      other.exec('begin immediate');
      await migrateSqlite(fixture.open());
      other.exec('rollback');
    });

    const limited = {
      createSqliteStore: (connection: SqliteDatabase, commandTimeoutMs: number) =>
        createSqliteStore(connection, { scope, commandTimeoutMs }).claim(claim),
      createSqliteDeadLetters: (connection: SqliteDatabase, commandTimeoutMs: number) =>
        createSqliteDeadLetters(connection, { scope, commandTimeoutMs }).remove('evt'),
    };

    test.each(Object.entries(limited))(
      'that is locked is waited for as long as commandTimeoutMs of %s says',
      async (_name, run) => {
        const forward = forwardedClock();
        const watched = watch(database);
        const other = fixture.open();
        other.exec('begin immediate');
        const waiting = run(watched, 3_600_000);
        forward(3_000_000);
        await watched.triedAgain();
        other.exec('rollback');
        await waiting;
        other.exec('begin immediate');
        const late = run(watched, 3_600_000);
        forward(3_600_000);
        await expect(late).rejects.toThrow('has had the file locked for 3600000 ms');
        other.exec('rollback');
      },
    );

    test('whose transaction of another process never commits: a claim that was given up never runs', async () => {
      const store = createSqliteStore(database, { scope, commandTimeoutMs: 100 });
      const other = fixture.open();
      other.exec('begin immediate');
      await expect(store.claim(claim)).rejects.toMatchObject({ code: 'store_unavailable' });
      other.exec('rollback');
      const patient = createSqliteStore(database, { scope, ...ampleTime });
      expect(await patient.claim({ ...claim, token: 'other' })).toMatchObject({
        state: 'claimed',
        attempt: 1,
      });
    });

    test('on a connection that is inside a transaction of the application: 503, and nothing is taken in', async () => {
      const { send, reports } = await serve([]);
      database.exec('begin');
      const event = await sendNew(send, 503);
      expect(reports.all[0]?.error?.message).toContain('give posthorn a connection of its own');
      database.exec('rollback');
      expect((await send(event)).status).toBe(200);
    });

    test('without the tables: the message says how to make them', async () => {
      const empty = openDatabase(join(fixture.path, '..', 'empty.db'));
      expect(await failuresOn(empty)).toEqual(failures('call migrateSqlite(database)'));
      await migrateSqlite(empty);
      expect(await failuresOn(empty)).toEqual(['it succeeded', 'it succeeded']);
      empty.close();
    });

    test('of a later posthorn: nothing is written, and the message says what to do', async () => {
      expect(await failuresOn(database)).toEqual(['it succeeded', 'it succeeded']);
      database.exec('insert into posthorn_migrations (version, applied_at) values (99, 0)');
      const other = fixture.open();
      expect(await failuresOn(other)).toEqual(
        failures('they have the version 99, and this posthorn knows 1'),
      );
      await expect(migrateSqlite(other)).rejects.toMatchObject(
        errorOf('configuration_invalid', 'update posthorn in this process'),
      );
      // A process that has begun before goes on: a deploy replaces it.
      expect(await failuresOn(database)).toEqual(['it succeeded', 'it succeeded']);
    });

    test('that is closed: the message says when to close it', async () => {
      expect(await failuresOn(database)).toEqual(['it succeeded', 'it succeeded']);
      database.close();
      expect(await failuresOn(database)).toEqual(failures('close it after receiver.close()'));
      await expect(migrateSqlite(database)).rejects.toThrow(/the database is closed/);
    });

    test('that is read-only', async () => {
      const readonly = openDatabase(fixture.path, { readonly: true });
      expect(await failuresOn(readonly)).toEqual(failures('is read-only for this process'));
      expect(await readAll(createSqliteDeadLetters(readonly, { scope }).list())).toEqual([]);
      readonly.close();
      const empty = join(fixture.path, '..', 'other.db');
      openDatabase(empty).close();
      const other = openDatabase(empty, { readonly: true });
      await expect(migrateSqlite(other)).rejects.toMatchObject({ code: 'configuration_invalid' });
      other.close();
    });

    test('that is full: 503, nothing is lost, and it goes on once there is room', async () => {
      const handled: string[] = [];
      const { receive, reports } = await serve(handled);
      const pages = Number(Object.values(database.prepare('pragma page_count').get() ?? {})[0]);
      database.exec(`pragma max_page_count = ${pages}`);
      const sent = Array.from({ length: 300 }, (_, number) => ({
        ...createEvent('transfer.succeeded'),
        id: `evt_${number}_${'x'.repeat(60)}`,
      }));
      const statuses = new Map<string, number>();
      for (const event of sent) statuses.set(event.id, (await receive(event)).status);
      expect(new Set(statuses.values())).toEqual(new Set([200, 503]));
      const messages = reports.all.map(({ error }) => error?.message ?? '');
      expect(messages.some((message) => message.includes('the disk is full'))).toBe(true);
      database.exec('pragma max_page_count = 1000000');
      for (const event of sent) expect((await receive(event)).status).toBe(200);
      expect(handled.toSorted()).toEqual(sent.map(({ id }) => id).toSorted());
    });

    test.each(['posthorn_events', 'the header'])('that is damaged in %s', async (place) => {
      for (let number = 0; number < 200; number += 1)
        await createSqliteStore(database, { scope, ...ampleTime }).complete({
          ...claim,
          id: `evt_${number}`,
        });
      database.exec('pragma wal_checkpoint(truncate)');
      const path = join(fixture.path, '..', 'damaged.db');
      database.exec(`vacuum into '${path}'`);
      if (place === 'the header')
        writeFileSync(path, 'this is a text, and far from a database of SQLite '.repeat(50));
      else truncateSync(path, 4096 * 3);
      const damaged = openDatabase(path);
      expect(await failuresOn(damaged)).toEqual(
        failures('the file is damaged, or is not a database of SQLite'),
      );
      damaged.close();
    });
  });

  describe('a file of SQLite on a network file system', () => {
    const fixture = useSqlite(openDatabase);
    const { statfsSync } = fs;
    afterEach(() => {
      fs.statfsSync = statfsSync;
      syncBuiltinESMExports();
    });

    // What the kernel answers for such a file; a test cannot count on a server that it may mount.
    test.each([
      ['NFS', 0x6969],
      ['SMB2', 0xfe534d42 - 2 ** 32],
    ])('is refused: %s', async (kind, type) => {
      Reflect.set(fs, 'statfsSync', (path: string) => ({ ...statfsSync(path), type }));
      syncBuiltinESMExports();
      await expect(migrateSqlite(fixture.open())).rejects.toMatchObject(
        errorOf('configuration_invalid', `lies on a network file system (${kind})`),
      );
    });
  });
}

/** What they do if the disk is full; starts programs that mount and fill one. */
export function testFullDisk(openDatabase: OpenDatabase): void {
  describe('a file of SQLite on a disk of its own', () => {
    test('that is full: 503, and nothing is lost', async (context) => {
      const disk = mkdtempSync(join(tmpdir(), 'posthorn-disk-'));
      const mount = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', disk]);
      try {
        skipIf(context, mount.status !== 0, 'this user may not mount a disk');
        const database = openDatabase(join(disk, 'events.db'));
        await migrateSqlite(database);
        const handled: string[] = [];
        const store = createSqliteStore(database, { scope, ...ampleTime });
        const { send } = await openEndpoint({ ...ampleDeadlines, store }, (receiver) =>
          receiver.on('*', ({ id }) => void handled.push(id)),
        );
        const early = await sendNew(send, 200);
        const filler = join(disk, 'filler');
        spawnSync('dd', ['if=/dev/zero', `of=${filler}`, 'bs=4096']);
        const event = createEvent('transfer.succeeded');
        let refused = 0;
        // The log has a little room left in pages that it has written before.
        for (let number = 0; number < 200 && refused === 0; number += 1) {
          const { status } = await send(number === 0 ? event : createEvent('transfer.succeeded'));
          if (status === 503) refused += 1;
          else expect(status).toBe(200);
        }
        expect(refused).toBe(1);
        rmSync(filler);
        expect((await send(event)).status).toBe(200);
        expect((await send(early)).status).toBe(200);
        expect(handled.filter((id) => id === event.id || id === early.id).toSorted()).toEqual(
          [event.id, early.id].toSorted(),
        );
        database.close();
      } finally {
        if (mount.status === 0) spawnSync('umount', ['--lazy', disk]);
        rmSync(disk, { recursive: true });
      }
    });
  });
}
