import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { programPath } from '../../tools/programs.js';
import { freePort, unprivilegedUser } from './postgres-server.js';

/**
 * Starts a PgBouncer in transaction mode. Everybody may connect, and is `role` to the server.
 *
 * @param {string} serverUrl
 * @param {string} role
 * @returns {Promise<{ url: string, stop: () => Promise<void> }>}
 */
export async function startPgBouncer(serverUrl, role) {
  const port = await freePort();
  const directory = mkdtempSync(join(tmpdir(), 'posthorn-bench-'));
  const path = join(directory, 'pgbouncer.ini');
  const settings = `[databases]
* = host=127.0.0.1 port=${new URL(serverUrl).port} user=${role}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
`;
  writeFileSync(path, settings);
  const user = unprivilegedUser();
  if (user !== undefined) for (const one of [directory, path]) chownSync(one, user.uid, user.gid);
  const server = spawn(programPath('pgbouncer'), [path], { ...user, stdio: ['ignore', 'ignore', 'pipe'] });
  const kill = () => server.kill('SIGKILL');
  process.once('exit', kill);
  await new Promise((resolve, reject) => {
    createInterface(server.stderr).on('line', (line) => {
      if (line.includes('process up: PgBouncer')) resolve(undefined);
    });
    server.on('error', reject);
    server.on('exit', (code) => reject(new Error(`pgbouncer ended with ${code}`)));
  });
  return {
    url: `postgres://${role}@127.0.0.1:${port}/postgres`,
    stop: async () => {
      const exit = once(server, 'exit');
      kill();
      await exit;
      process.off('exit', kill);
      rmSync(directory, { recursive: true });
    },
  };
}
