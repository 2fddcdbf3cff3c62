import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { pinned } from './pinning.js';

/**
 * Starts a Redis of our own on a free port. It keeps nothing on disk unless its settings say so.
 *
 * @param {readonly string[]} [own] settings such as `--appendonly`, `yes`
 * @returns {Promise<{ port: number, empty: () => Promise<void>, stop: () => Promise<void> }>}
 */
export async function startRedis(own = []) {
  const port = await freePort();
  const directory = mkdtempSync(join(tmpdir(), 'posthorn-bench-'));
  const settings = ['--port', String(port), '--bind', '127.0.0.1', '--dir', directory, '--save', '', ...own];
  const [program, ...rest] = pinned('store', ['redis-server', ...settings]);
  const server = spawn(program, rest, { stdio: 'ignore' });
  const kill = () => server.kill('SIGKILL');
  process.once('exit', kill);
  const redis = new Redis({ host: '127.0.0.1', port, retryStrategy: () => 50, maxRetriesPerRequest: null });
  redis.on('error', () => {});
  await Promise.race([redis.ping(), ended(server)]);
  return {
    port,
    empty: async () => {
      await redis.flushall();
    },
    stop: async () => {
      redis.disconnect();
      const exit = once(server, 'exit');
      kill();
      await exit;
      process.off('exit', kill);
      rmSync(directory, { recursive: true });
    },
  };
}

/** @param {import('node:child_process').ChildProcess} server */
async function ended(server) {
  const [code] = await once(server, 'exit');
  throw new Error(`redis-server ended with ${code}; is it installed?`);
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  server.close();
  await once(server, 'close');
  return port;
}
