import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { createPostgresDeadLetters, createPostgresInbox } from 'posthorn/postgres';
import { createSqliteDeadLetters, createSqliteInbox } from 'posthorn/sqlite';
import { createEvent } from 'posthorn/testing';
import { describe, expect, test } from 'vitest';
import { paste } from '../cli/posthorn.ts';
import { createLetter } from '../stores/kit/conformance.ts';
import { rerunBook } from '../stores/kit/inbox/rerun-cases.ts';
import { useDatabase } from '../stores/postgres/fixture.ts';
import { useSqlite } from '../stores/sqlite/fixture.ts';
import { openEndpoint } from '../support/open-endpoint.ts';
import { readAll } from '../support/read-all.ts';
import { snippetWith } from '../support/snippet.ts';
import { temporaryDirectory } from '../support/temporary-directory.ts';
import { type Move, moveOfPage } from './moving-on.ts';

const scope = 'billing-production';
const sqlite = useSqlite();
const postgres = useDatabase();

/** Runs the commands of the page, which name the file `events.db`. */
async function copyInbox(path: string, url: string): Promise<void> {
  const folder = temporaryDirectory();
  symlinkSync(path, join(folder, 'events.db'));
  const commands = snippetWith('posthorn_inbox', 'docs/moving.md', 'sh');
  await paste(`set -e\ncd '${folder}'\n${commands}`, { POSTGRES_URL: url });
}

describe('a move from SQLite to PostgreSQL', () => {
  test('takes all dead letters along in their order, also after an interruption', async () => {
    const from = createSqliteDeadLetters(await sqlite.openMigrated(), { scope });
    const to = createPostgresDeadLetters(postgres.connect(), { scope });
    const runningUntil = Date.now() + 3_600_000;
    const letters = Array.from({ length: 30 }, (_, index) =>
      createLetter({
        parkedAt: 1_740_830_400_000 + index,
        runningUntil: index === 3 ? runningUntil : undefined,
      }),
    );
    for (const letter of letters) await from.put(letter);
    const move: Move = await moveOfPage();

    let puts = 0;
    const put: typeof to.put = (letter) => {
      puts += 1;
      return puts > 10 ? Promise.reject(new Error('the power is off')) : to.put(letter);
    };
    await expect(move(from, { ...to, put })).rejects.toThrow('the power is off');
    expect([...(await readAll(to.list())), ...(await readAll(from.list()))]).toEqual(letters);
    // Interrupted after the letter was put, it is in both.
    const [, , , , , , , , , , inBoth = createLetter()] = letters;
    await to.put(inBoth);
    await move(from, to);
    expect(await readAll(to.list())).toEqual(letters);
    expect(await readAll(from.list())).toEqual([]);
  });

  test('takes the records of an inbox along, by the commands of the page', async () => {
    const database = await sqlite.openMigrated();
    const old = createSqliteInbox(database, { scope });
    const pool = postgres.connect();
    const next = createPostgresInbox(pool, { scope });
    const latest = () => 'TR1';
    const before = await openEndpoint({}, (receiver) => {
      receiver.on(
        'transfer.*',
        old.once('book', () => {}),
      );
      receiver.on(
        'transfer.*',
        old.once('state', () => {}, { latest }),
      );
    });
    const at = (ms: number) => ({
      ...createEvent('transfer.updated', { id: 'TR1' }),
      created_at: new Date(Date.now() + ms).toISOString(),
    });
    const [older, handled, newer] = [at(-2_000), at(-1_000), at(0)];
    expect(await before.send(handled)).toMatchObject({ body: { outcome: 'processed' } });
    expect(await rerunBook(before, handled, 'fix')).toMatchObject({ outcome: 'processed' });

    await copyInbox(sqlite.path, postgres.url());
    const young = "handled_at between now() - interval '1 minute' and now() + interval '1 minute'";
    expect(await postgres.sql(`select count(*) from posthorn.inbox where ${young}`)).toBe('2');
    await expect(copyInbox(sqlite.path, postgres.url())).rejects.toThrow('exit code');
    expect(await postgres.sql('select count(*) from posthorn.inbox')).toBe('2');
    const ran: string[] = [];
    const after = await openEndpoint({}, (receiver) => {
      receiver.on(
        'transfer.*',
        next.once('book', async ({ id }) => ran.push(`book ${id}`)),
      );
      receiver.on(
        'transfer.*',
        next.once('state', async ({ id }) => ran.push(`state ${id}`), { latest }),
      );
    });
    for (const event of [handled, older, newer])
      expect(await after.send(event)).toMatchObject({ body: { outcome: 'processed' } });
    expect(ran.sort()).toEqual([`book ${newer.id}`, `book ${older.id}`, `state ${newer.id}`].sort());
    const skipped = after.reports.all.map(({ handlers }) => handlers.map((one) => one.skipped).sort());
    expect(skipped).toEqual([
      ['handled_before', 'handled_before'],
      ['superseded', undefined],
      [undefined, undefined],
    ]);
    expect(await rerunBook(after, handled, 'fix')).toMatchObject({ outcome: 'duplicate' });
  });
});
