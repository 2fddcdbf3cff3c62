import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Pool } from 'pg';
import { createPostgresInbox } from 'posthorn/postgres';
import { createEvent } from 'posthorn/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { freePort } from '../support/child-program.ts';
import { openEndpoint } from '../support/open-endpoint.ts';
import { until } from '../support/until.ts';
import { usePostgres } from './fixture.ts';
import { isPostgresInstalled } from './installed.ts';
import { book, bookings, createLedger, recordsOf } from './ledger.ts';

const isInstalled = isPostgresInstalled() && spawnSync('pgbouncer', ['--version']).status === 0;

describe.skipIf(!isInstalled)('an inbox behind PgBouncer in transaction mode', () => {
  const fixture = usePostgres();
  let direct: Pool;
  let pool: Pool;
  let stop = async (): Promise<void> => {};
  beforeAll(async () => {
    direct = fixture.connect();
    await createLedger(direct);
    const port = await freePort();
    stop = await startPgBouncer(port, fixture.postgres.port);
    pool = fixture.connect({ port });
  });
  afterAll(() => stop());

  function open(handle: (query: (text: string) => Promise<unknown>) => unknown) {
    return openEndpoint({}, (receiver) => {
      receiver.on(
        'transfer.*',
        createPostgresInbox(pool, { scope: 'inbox-test' }).once('book', async (event, { transaction }) => {
          await book(event, transaction);
          await handle(transaction.query);
        }),
      );
    });
  }

  test('books each of many events once, though two receivers get all of them at once', async () => {
    const events = Array.from({ length: 20 }, () => createEvent('transfer.succeeded'));
    const ends = await Promise.all([open(() => {}), open(() => {})]);
    const answers = await Promise.all(ends.flatMap(({ send }) => events.map((event) => send(event))));
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    for (const event of events) {
      expect([await bookings(direct, event), await recordsOf(direct, event)]).toEqual([1, ['book']]);
    }
  });

  test('cancels the query of the right transaction when the signal aborts', async () => {
    const { send, receiver } = await open((query) => query('select pg_sleep(62)'));
    const event = createEvent('transfer.succeeded');
    const answer = send(event);
    const count = async (): Promise<number> => {
      const active = `select 1 from pg_stat_activity where query = 'select pg_sleep(62)' and state = 'active'`;
      return (await direct.query(active)).rows.length;
    };
    await until('the handler sleeps', async () => (await count()) === 1);
    await receiver.close({ graceMs: 0 });
    expect((await answer).status).toBe(503);
    await until('the query has ended', async () => (await count()) === 0);
    expect((await (await open(() => {})).send(event)).status).toBe(200);
    expect(await bookings(direct, event)).toBe(1);
  });
});

/** Starts PgBouncer with five connections to the server; resolves with a function that ends it. */
async function startPgBouncer(port: number, serverPort: number): Promise<() => Promise<void>> {
  const directory = mkdtempSync(join(tmpdir(), 'posthorn-pgbouncer-'));
  const settings = [
    '[databases]',
    `postgres = host=127.0.0.1 port=${serverPort} user=postgres`,
    '[pgbouncer]',
    'listen_addr = 127.0.0.1',
    `listen_port = ${port}`,
    'unix_socket_dir =',
    'auth_type = any',
    'pool_mode = transaction',
    'default_pool_size = 5',
  ];
  const path = join(directory, 'pgbouncer.ini');
  writeFileSync(path, settings.join('\n'));
  // It refuses to run as root.
  const ids = ['-u', '-g'].map((flag) =>
    Number(spawnSync('id', [flag, 'postgres'], { encoding: 'utf8' }).stdout),
  );
  const [uid = 0, gid = 0] = process.getuid?.() === 0 ? ids : [process.getuid?.(), process.getgid?.()];
  for (const each of [directory, path]) chownSync(each, uid, gid);
  const child = spawn('pgbouncer', ['-q', path], { uid, gid, cwd: directory, stdio: 'ignore' });
  await until('PgBouncer listens', () => isListening(port));
  return async () => {
    const closed = once(child, 'close');
    child.kill('SIGKILL');
    await closed;
    rmSync(directory, { recursive: true });
  };
}

async function isListening(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
