import { execFileSync, spawnSync } from 'node:child_process';
import { chownSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { programPath } from '../../../tools/programs.js';
import { removeAtEnd } from '../../support/reaper.ts';

/** PostgreSQL and PgBouncer refuse to run as root. Debian's package creates the user `postgres`. */
export const user: User | undefined =
  process.getuid?.() === 0 ? (readUser('postgres') ?? readUser('nobody')) : undefined;

interface User {
  readonly uid: number;
  readonly gid: number;
}

function readUser(name: string): User | undefined {
  const [uid, gid] = ['-u', '-g'].map((flag) => spawnSync('id', [flag, name], { encoding: 'utf8' }));
  if (uid?.status !== 0 || gid?.status !== 0) return undefined;
  return { uid: Number(uid.stdout), gid: Number(gid.stdout) };
}

/** Makes a directory that belongs to who runs the servers. */
export function createOwnDirectory(prefix: string): string {
  const directory = mkdtempSync(prefix);
  if (user !== undefined) chownSync(directory, user.uid, user.gid);
  return directory;
}

/**
 * Makes the data directory that those of all servers are copies of, once for all tests: see
 * test/stores/postgres/setup.ts.
 */
export function createTemplate(): { readonly template: string; readonly remove: () => void } {
  const directory = createOwnDirectory(join(tmpdir(), 'posthorn-postgres-'));
  removeAtEnd(directory);
  const template = join(directory, 'template');
  const settings = ['--auth=trust', '--username=postgres', '--encoding=UTF8', '--no-locale', '--no-sync'];
  execFileSync(programPath('initdb'), ['-D', template, ...settings], {
    ...user,
    cwd: directory,
    stdio: 'pipe',
  });
  return { template, remove: () => rmSync(directory, { recursive: true }) };
}
