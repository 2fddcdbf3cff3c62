import { copyFileSync, renameSync, rmSync } from 'node:fs';
import { toHealth } from 'posthorn/node';
import {
  createSqliteDeadLetters,
  createSqliteInbox,
  createSqliteStore,
  migrateSqlite,
} from 'posthorn/sqlite';
import { createEvent } from 'posthorn/testing';
import { beforeEach, describe, expect, test } from 'vitest';
import { ampleDeadlines, ampleTime } from '../../support/limits.ts';
import { listenUntilTheEnd } from '../../support/listen.ts';
import { eventAt, openEndpoint } from '../../support/open-endpoint.ts';
import { readAll } from '../../support/read-all.ts';
import { skipIf } from '../../support/skip-if.ts';
import { createLetter } from '../kit/conformance.ts';
import type { Connection, OpenDatabase } from './connection.ts';
import { useSqlite } from './fixture.ts';

const scope = 'moved-test';
const advice = expect.stringMatching(/was deleted or moved, or replaced .*put the file back, or restart/);

/** What a process does whose file is deleted, moved or replaced while it has it open. */
export function testMovedFile(openDatabase: OpenDatabase): void {
  describe('a file of SQLite while a receiver has it open', () => {
    const fixture = useSqlite(openDatabase);
    let database: Connection;
    beforeEach(async (context) => {
      skipIf(context, process.platform === 'win32', 'Windows does not move a file that is open');
      database = await fixture.openMigrated();
    });

    const replaceFile = (): void => {
      copyFileSync(fixture.path, `${fixture.path}.copy`);
      renameSync(`${fixture.path}.copy`, fixture.path);
    };
    const changes: readonly (readonly [name: string, change: () => void])[] = [
      ['deleted', () => rmSync(fixture.path)],
      ['moved', () => renameSync(fixture.path, `${fixture.path}.moved`)],
      ['replaced by a copy', replaceFile],
    ];

    const open = async () => {
      const handled: string[] = [];
      const endpoint = await openEndpoint(
        {
          ...ampleDeadlines,
          store: createSqliteStore(database, { scope, ...ampleTime }),
          deadLetters: createSqliteDeadLetters(database, { scope, ...ampleTime }),
        },
        (receiver) =>
          receiver.on('*', ({ id }) => {
            handled.push(id);
            throw new Error('poison');
          }),
      );
      const health = await listenUntilTheEnd(toHealth(endpoint.receiver));
      return { ...endpoint, handled, health };
    };

    test.each(changes)(
      'that was %s: 503, also for a last attempt and from toHealth',
      async (_name, change) => {
        const { send, reports, handled, health } = await open();
        expect((await fetch(health)).status).toBe(200);
        change();
        const last = eventAt(Date.now() - 1_000_000);
        for (const event of [createEvent('transfer.succeeded'), last])
          expect(await send(event)).toMatchObject({ status: 503, body: { code: 'store_unavailable' } });
        expect(reports.all.map(({ error }) => error?.message)).toEqual([advice, advice]);
        expect(handled).toEqual([]);
        const answer = await fetch(health);
        expect([answer.status, await answer.json()]).toEqual([
          503,
          expect.objectContaining({ store: expect.objectContaining({ code: 'store_unavailable' }) }),
        ]);
      },
    );

    test('that is put back under its path is accepted again', async () => {
      const { send, health } = await open();
      const last = eventAt(Date.now() - 1_000_000);
      renameSync(fixture.path, `${fixture.path}.moved`);
      expect((await send(last)).status).toBe(503);
      renameSync(`${fixture.path}.moved`, fixture.path);
      expect((await fetch(health)).status).toBe(200);
      expect(await send(last)).toMatchObject({ status: 200, body: { outcome: 'parked' } });
      expect((await readAll(createSqliteDeadLetters(fixture.open(), { scope }).list())).length).toBe(1);
    });

    test.each(changes)('that was %s before its first use takes nothing', async (_name, change) => {
      const store = createSqliteStore(database, { scope, ...ampleTime });
      change();
      const claim = { id: 'evt', token: 't', leaseMs: 20_000, retentionMs: 60_000 };
      await expect(store.claim(claim)).rejects.toMatchObject({ code: 'store_unavailable', message: advice });
    });

    test('that was moved: each use of the letters and of an inbox fails, and keeps nothing', async () => {
      const deadLetters = createSqliteDeadLetters(database, { scope, ...ampleTime });
      const letter = createLetter();
      database.exec('create table ledger (id text)');
      const inbox = createSqliteInbox(database, { scope });
      const { send, reports } = await openEndpoint(ampleDeadlines, (receiver) =>
        receiver.on(
          '*',
          inbox.once('book', ({ id }, context) => {
            context.database.prepare('insert into ledger values (?)').run(id);
          }),
        ),
      );
      renameSync(fixture.path, `${fixture.path}.moved`);
      const failure = { code: 'dead_letters_unavailable', message: advice };
      await expect(deadLetters.put(letter)).rejects.toMatchObject(failure);
      await expect(deadLetters.get(letter.id)).rejects.toMatchObject(failure);
      await expect(deadLetters.remove(letter.id)).rejects.toMatchObject(failure);
      await expect(readAll(deadLetters.list())).rejects.toMatchObject(failure);
      expect((await send(createEvent('transfer.succeeded'))).status).toBe(500);
      expect(reports.all[0]?.error?.cause).toMatchObject({ code: 'inbox_unavailable', message: advice });
      renameSync(`${fixture.path}.moved`, fixture.path);
      expect(await readAll(deadLetters.list())).toEqual([]);
      expect(database.prepare('select id from ledger').all()).toEqual([]);
    });

    test('a database in memory is left alone', async () => {
      const memory = openDatabase(':memory:');
      await migrateSqlite(memory);
      const deadLetters = createSqliteDeadLetters(memory, { scope, ...ampleTime });
      await deadLetters.put(createLetter());
      expect((await readAll(deadLetters.list())).length).toBe(1);
      memory.close();
    });
  });
}
