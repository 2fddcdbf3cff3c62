import { createServer } from 'node:net';
import { Pool } from 'pg';
import type { Receiver } from 'posthorn';
import { createPostgresInbox, createPostgresStore } from 'posthorn/postgres';
import { createEvent } from 'posthorn/testing';
import { expect, onTestFinished, test } from 'vitest';
import { Gate } from '../../support/gate.ts';
import { listenUntilTheEnd } from '../../support/listen.ts';
import { openEndpoint } from '../../support/open-endpoint.ts';
import { until } from '../../support/until.ts';

/**
 * A PostgreSQL that shuts down while a client connects says "you are in", "ready" and "I shut down" at once.
 * Only a server of the test's own sends them in one chunk each time.
 */
const welcomeAndLeave = Buffer.concat([
  message('R', Buffer.from([0, 0, 0, 0])),
  message('Z', Buffer.from('I')),
  message(
    'E',
    Buffer.from('SFATAL\0VFATAL\0C57P01\0Mterminating connection due to administrator command\0\0'),
  ),
]);

function message(type: string, body: Buffer): Buffer {
  const head = Buffer.from(`${type}0000`);
  head.writeInt32BE(4 + body.length, 1);
  return Buffer.concat([head, body]);
}

/** A pool of such a server, and the errors that would have ended the process. */
async function leavingServer(): Promise<{ gate: Gate; pool: Pool; uncaught: readonly unknown[] }> {
  const gate = new Gate();
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', async () => {
      await gate.pass();
      socket.end(welcomeAndLeave);
    });
  });
  const { port } = new URL(await listenUntilTheEnd(server));
  const pool = new Pool({ host: '127.0.0.1', port: Number(port), user: 'u', database: 'd' });
  pool.on('error', () => {});
  const uncaught: unknown[] = [];
  const onUncaught = (error: unknown): void => void uncaught.push(error);
  process.on('uncaughtExceptionMonitor', onUncaught);
  onTestFinished(async () => {
    await pool.end();
    process.off('uncaughtExceptionMonitor', onUncaught);
  });
  return { gate, pool, uncaught };
}

const ignoreAll = (receiver: Receiver): void => void receiver.on('*', () => {});

test('a store in a PostgreSQL that leaves while it connects does not answer', async () => {
  const { pool, uncaught } = await leavingServer();
  const { send } = await openEndpoint({ store: createPostgresStore(pool, { scope: 'leave' }) }, ignoreAll);
  expect(await send(createEvent('transfer.succeeded'))).toHaveProperty('body.code', 'store_unavailable');
  expect(uncaught).toEqual([]);
});

test('an inbox in a PostgreSQL that leaves while it connects fails the attempt', async () => {
  const { pool, uncaught } = await leavingServer();
  const inbox = createPostgresInbox(pool, { scope: 'leave' });
  const { send } = await openEndpoint({}, (receiver) => {
    receiver.on(
      '*',
      inbox.once('book', () => {}),
    );
  });
  expect(await send(createEvent('transfer.succeeded'))).toHaveProperty('body.code', 'handler_failed');
  expect(uncaught).toEqual([]);
});

test('a client that came too late, from a PostgreSQL that leaves, goes back', async () => {
  const { gate, pool, uncaught } = await leavingServer();
  gate.shut();
  const store = createPostgresStore(pool, { scope: 'leave', commandTimeoutMs: 100 });
  const { send } = await openEndpoint({ store }, ignoreAll);
  expect(await send(createEvent('transfer.succeeded'))).toHaveProperty('body.code', 'store_unavailable');
  expect(pool.totalCount).toBeGreaterThan(0);
  gate.open();
  await until('it is closed', () => pool.totalCount === 0);
  expect(uncaught).toEqual([]);
});
