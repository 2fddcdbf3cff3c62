import { join } from 'node:path';
import type { Pool } from 'pg';
import { createPostgresInbox } from 'posthorn/postgres';
import { createEvent, deliver } from 'posthorn/testing';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { awaitedLater } from '../support/awaited-later.ts';
import { type ChildProgram, packageRoot, startProgram } from '../support/child-program.ts';
import { openEndpoint } from '../support/open-endpoint.ts';
import { KEY } from '../support/served.ts';
import { usePostgres } from './fixture.ts';
import { book, bookings, createLedger } from './ledger.ts';

describe('a process with an inbox', () => {
  const fixture = usePostgres();
  let pool: Pool;
  beforeAll(async () => {
    pool = fixture.connect();
    await createLedger(pool);
  });

  async function start(mode: 'dies' | 'freezes', options: object): Promise<ChildProgram & { url: string }> {
    const program = startProgram(
      join(packageRoot, 'test', 'postgres', 'inbox-worker.mjs'),
      {
        PATH: process.env.PATH,
        POSTGRES_URL: fixture.url(),
        KEY,
        MODE: mode,
        OPTIONS: JSON.stringify(options),
      },
      packageRoot,
    );
    onTestFinished(async () => {
      program.kill('SIGKILL');
      await program.exit;
    });
    const [, port] = (await program.line(/^listening /)).split(' ');
    return { ...program, url: `http://127.0.0.1:${port}/` };
  }

  /** The process that gets the retry, and knows nothing of the first. */
  const openOther = (deadlineMs: number) =>
    openEndpoint({ deadlineMs }, (receiver) => {
      receiver
        .on(
          'transfer.succeeded',
          createPostgresInbox(pool, { scope: 'inbox-test' }).once('book', (event, { transaction }) =>
            book(event, transaction),
          ),
        )
        .on('transfer.failed', async ({ id }) => {
          await pool.query('insert into ledger (event_id) values ($1)', [id]);
        });
    });

  test.each([
    { type: 'transfer.succeeded', times: 1, with: 'with the inbox' },
    { type: 'transfer.failed', times: 2, with: 'without it' },
  ] as const)(
    'that is killed between handler and record books $times times $with',
    async ({ type, times }) => {
      const worker = await start('dies', {});
      const event = createEvent(type);
      await expect(deliver(worker.url, event, { key: KEY })).rejects.toThrow();
      await worker.exit;
      expect(worker.lines).toContain(`booked ${event.id}`);
      const { send, reports } = await openOther(10_000);
      expect((await send(event)).status).toBe(200);
      expect(await bookings(pool, event)).toBe(times);
      expect(reports.all[0]?.handlers[0]?.skipped).toBe(times === 1 ? 'handled_before' : undefined);
    },
  );

  test('that freezes inside a transaction gives the row up, and fails when it wakes', async () => {
    const worker = await start('freezes', { deadlineMs: 5_000, maxRunMs: 60_000 });
    const event = createEvent('transfer.succeeded');
    const cut = awaitedLater(deliver(worker.url, event, { key: KEY }));
    await worker.line(/^booked/);
    const { send, reports } = await openOther(25_000);
    expect((await send(event)).status).toBe(200);
    expect(reports.all[0]?.handlers).toMatchObject([{ ok: true }]);
    expect(reports.all[0]?.handlers[0]?.skipped).toBeUndefined();
    worker.kill('SIGCONT');
    expect(await worker.line(/^reported failed .*handler "book" failed/)).toContain(
      'idle-in-transaction timeout',
    );
    expect((await cut).status).toBeGreaterThanOrEqual(500);
    expect(await bookings(pool, event)).toBe(1);
  });
});
