import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { programPath } from '../../tools/programs.js';

/**
 * Starts a PostgreSQL of our own on a free port, in a temporary directory. `settings` are as in
 * postgresql.conf; unless they say otherwise, what is committed is on the disk.
 *
 * @param {Readonly<Record<string, string>>} [settings]
 * @param {(command: readonly string[]) => readonly string[]} [place] puts the command on a core
 * @returns {Promise<{ url: string, stop: () => Promise<void> }>}
 */
export async function startPostgres(settings = {}, place = (command) => command) {
  const port = await freePort();
  const directory = mkdtempSync(join(tmpdir(), 'posthorn-bench-'));
  const user = unprivilegedUser();
  if (user !== undefined) chownSync(directory, user.uid, user.gid);
  const data = join(directory, 'data');
  const initdb = ['-D', data, '--auth=trust', '--username=postgres', '--encoding=UTF8', '--no-locale'];
  execFileSync(programPath('initdb'), initdb, { ...user, cwd: directory, stdio: 'pipe' });
  const own = { listen_addresses: '127.0.0.1', unix_socket_directories: '', port: String(port) };
  const flags = Object.entries({ ...own, ...settings }).flatMap(([name, value]) => [
    '-c',
    `${name}=${value}`,
  ]);
  const [program = '', ...rest] = place([programPath('postgres'), '-D', data, ...flags]);
  const server = spawn(program, rest, {
    ...user,
    cwd: directory,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const kill = () => {
    server.kill('SIGQUIT');
  };
  process.once('exit', kill);
  await Promise.race([readiness(server), ended(server)]);
  return {
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    stop: async () => {
      const exit = once(server, 'exit');
      kill();
      await exit;
      process.off('exit', kill);
      rmSync(directory, { recursive: true, force: true, maxRetries: 10 });
    },
  };
}

/** @param {import('node:child_process').ChildProcessByStdio<null, null, import('node:stream').Readable>} server */
function readiness(server) {
  return /** @type {Promise<void>} */ (
    new Promise((resolve) => {
      createInterface(server.stderr).on('line', (line) => {
        if (line.endsWith('ready to accept connections')) resolve();
      });
    })
  );
}

/** @param {import('node:child_process').ChildProcess} server */
async function ended(server) {
  const [code] = await once(server, 'exit');
  throw new Error(`postgres ended with ${code}`);
}

/** PostgreSQL refuses to run as root; Debian's package creates the user `postgres`. */
export function unprivilegedUser() {
  if (process.getuid?.() !== 0) return undefined;
  const [uid, gid] = ['-u', '-g'].map((flag) => Number(execFileSync('id', [flag, 'postgres'])));
  return { uid, gid };
}

export async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
  server.close();
  await once(server, 'close');
  return port;
}
