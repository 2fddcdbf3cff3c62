import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { createPool, type Pool, type ResultSetHeader } from 'mysql2/promise';
import type { Store } from 'posthorn';
import { storeConformance } from 'posthorn/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createMySqlStore } from '../../examples/mysql-store.ts';
import { programPath } from '../../tools/programs.js';
import { keyCases } from '../stores/kit/key-cases.ts';
import { packageRoot } from '../support/child-program.ts';
import { onFreePort } from '../support/free-port.ts';
import { until } from '../support/until.ts';

/** The statements stand in the first comment, for those who copy the file. */
const text = readFileSync(join(packageRoot, 'examples', 'mysql-store.ts'), 'utf8');
const data = mkdtempSync(join(tmpdir(), 'posthorn-mariadb-'));
let server: ChildProcess;
let pool: Pool;
let textPool: Pool;
const open = (of = pool): Store => createMySqlStore(of);

function statementOfComment(beginning: string): string {
  const [comment = ''] = text.split('*/');
  return new RegExp(`${beginning} posthorn_events[^;]+`).exec(comment)?.[0].replaceAll(/^ \*/gm, '') ?? '';
}

/** On an empty directory, so it has no users, and lets everybody in. */
async function startMariaDb(port: number): Promise<ChildProcess> {
  const child = spawn(
    programPath('mariadbd'),
    [
      '--no-defaults',
      '--skip-grant-tables',
      // MariaDB runs as root only if it is told to.
      `--user=${userInfo().username}`,
      `--datadir=${data}`,
      `--port=${port}`,
      '--bind-address=127.0.0.1',
      '--socket=',
      '--innodb-buffer-pool-size=16M',
      // The modes that change how a statement is read.
      '--sql-mode=ANSI,TRADITIONAL,NO_BACKSLASH_ESCAPES',
    ],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  );
  const printed: string[] = [];
  await new Promise<void>((resolve, reject) => {
    createInterface(child.stderr).on('line', (line) => {
      printed.push(line);
      if (line.includes('ready for connections')) resolve();
    });
    child.on('error', reject);
    child.on('close', () => reject(new Error(`mariadbd ended:\n${printed.join('\n')}`)));
  });
  return child;
}

beforeAll(async () => {
  const started = await onFreePort(startMariaDb);
  server = started.child;
  const settings = { host: '127.0.0.1', port: started.port, user: 'root' };
  const first = createPool(settings);
  await first.query('create database webhooks');
  await first.end();
  pool = createPool({ ...settings, database: 'webhooks' });
  textPool = createPool({
    ...settings,
    database: 'webhooks',
    supportBigNumbers: true,
    bigNumberStrings: true,
  });
  await pool.query(statementOfComment('create table'));
});

afterAll(async () => {
  await pool?.end();
  await textPool?.end();
  const ended = once(server, 'close');
  server.kill('SIGKILL');
  await ended;
  rmSync(data, { recursive: true });
});

describe('the store of MySQL in examples/, on MariaDB', () => {
  for (const { name, run } of storeConformance(() => open())) test(name, run);

  test.each(keyCases)('$name', ({ check }) => check(open));

  test('ends a lease in time on a pool that reads large numbers as texts', async () => {
    const request = { id: 'texts', token: 't', leaseMs: 60_000, retentionMs: 60_000 };
    const store = open(textPool);
    await store.claim(request);
    const { msLeft } = { msLeft: 0, ...(await store.claim({ ...request, token: 'other' })) };
    expect(msLeft).toBeGreaterThan(0);
    expect(msLeft).toBeLessThanOrEqual(60_000);
    expect(await store.peek?.(request)).toEqual({ state: 'running' });
  });

  test('forgets what has expired, by the statement of its comment', async () => {
    const statement = statementOfComment('delete from');
    await pool.query('delete from posthorn_events');
    for (const [id, retentionMs] of Object.entries({ old: 1, young: 60_000 }))
      await open().complete({ id, token: 't', retentionMs });
    await until('one row has expired', async () => {
      const [{ affectedRows }] = await pool.query<ResultSetHeader>(statement);
      return affectedRows === 1;
    });
    expect(await open().peek?.({ id: 'young' })).toEqual({ state: 'completed' });
  });

  test('gives up a server that is frozen, and works when it is back', async () => {
    const request = { id: 'frozen', token: 't', leaseMs: 60_000, retentionMs: 60_000 };
    server.kill('SIGSTOP');
    try {
      await expect(open().claim(request)).rejects.toThrow(/timeout/);
    } finally {
      server.kill('SIGCONT');
    }
    expect(await open().claim(request)).toMatchObject({ state: 'claimed', attempt: 1 });
  });
});
