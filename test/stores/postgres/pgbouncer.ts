import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { programPath } from '../../../tools/programs.js';
import { onFreePort } from '../../support/free-port.ts';
import { user } from './template.ts';

/** A process of PgBouncer in front of a server. */
export interface PgBouncer {
  readonly port: number;
  readonly stop: () => Promise<void>;
}

/** Starts PgBouncer in transaction mode on a free port, with `size` connections to the server. */
export async function startPgBouncer(serverPort: number, size: number): Promise<PgBouncer> {
  const directory = mkdtempSync(join(tmpdir(), 'posthorn-pgbouncer-'));
  const { port, child } = await onFreePort((own) => spawnIn(directory, settings(own, serverPort, size)));
  return {
    port,
    stop: async () => {
      const closed = once(child, 'close');
      child.kill('SIGKILL');
      await closed;
      rmSync(directory, { recursive: true });
    },
  };
}

/**
 * Everybody may connect to any database, and is the superuser. What a transaction leaves behind, the next one
 * finds.
 */
function settings(port: number, serverPort: number, size: number): string {
  return `[databases]
* = host=127.0.0.1 port=${serverPort} user=postgres
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = ${size}
server_reset_query =
`;
}

async function spawnIn(directory: string, config: string): Promise<ChildProcess> {
  const path = join(directory, 'pgbouncer.ini');
  writeFileSync(path, config);
  if (user !== undefined) for (const one of [directory, path]) chownSync(one, user.uid, user.gid);
  const child = spawn(programPath('pgbouncer'), [path], {
    ...user,
    cwd: directory,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const printed: string[] = [];
  await new Promise<void>((resolve, reject) => {
    createInterface(child.stderr).on('line', (line) => {
      printed.push(line);
      if (line.includes('process up: PgBouncer')) resolve();
    });
    child.on('error', reject);
    child.on('close', () => reject(new Error(`pgbouncer ended:\n${printed.slice(-20).join('\n')}`)));
  });
  return child;
}
