import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { programPath } from '../../../tools/programs.js';
import { startedBy } from '../../support/started-by.ts';
import { user } from './template.ts';

/** How a server ends: it rolls back and writes a checkpoint, it drops everything, or the system kills it. */
export type StopMode = 'fast' | 'immediate' | 'kill';

/** As in postgresql.conf. */
export type Settings = Readonly<Record<string, string>>;

/**
 * Settings of every server. Without `fsync` it is faster, and loses nothing unless the whole machine goes
 * down: what a process has written stays written when it is killed.
 */
const defaultSettings: Settings = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  fsync: 'off',
  shared_buffers: '32MB',
};

/** Starts the server of a data directory. It is ready once it accepts connections. */
export function startServer(
  directory: string,
  port: number,
  settings: Settings = {},
): { readonly child: ChildProcess; readonly ready: Promise<void> } {
  const all = { ...defaultSettings, ...settings, port: String(port) };
  const flags = Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const child = spawn(programPath('postgres'), ['-D', directory, ...flags], {
    ...user,
    cwd: directory,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const printed: string[] = [];
  const ready = new Promise<void>((resolve, reject) => {
    createInterface(child.stderr).on('line', (line) => {
      printed.push(line);
      if (line.endsWith('database system is ready to accept connections')) resolve();
    });
    child.on('error', reject);
    child.on('close', () => reject(new Error(`postgres ended:\n${printed.slice(-20).join('\n')}`)));
  });
  return { child, ready };
}

const stopSignals = { fast: 'SIGINT', immediate: 'SIGQUIT', kill: 'SIGKILL' } as const;

export async function stopServer(child: ChildProcess, mode: StopMode): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  // All its processes hold its stderr, so it is closed once the last of them has ended.
  const closed = once(child, 'close');
  if (mode === 'kill') signalAll(child, 'SIGKILL');
  else child.kill(stopSignals[mode]);
  await closed;
}

/** Signals a server and the processes that it has started, each of which leads a process group of its own. */
export function signalAll(child: ChildProcess, signal: NodeJS.Signals): void {
  const { pid } = child;
  if (pid === undefined) return;
  // A killed process is the parent of none any more. One that is stopped may have started some just before.
  const before = startedBy(pid);
  child.kill(signal);
  for (const started of new Set([...before, ...startedBy(pid)])) signalOne(started, signal);
}

function signalOne(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has ended meanwhile.
  }
}

/** For psql, which waits without end for a server that is frozen, and the whole process with it. */
const PSQL_LIMIT_MS = 60_000;

/** Runs SQL as the superuser and returns what psql prints. */
export function psql(port: number, database: string, sql: string): string {
  const connection = ['-h', '127.0.0.1', '-p', String(port), '-U', 'postgres', '-d', database];
  return execFileSync(programPath('psql'), ['-XAtq', '-v', 'ON_ERROR_STOP=1', ...connection], {
    input: sql,
    encoding: 'utf8',
    stdio: ['pipe', 'pipe', 'pipe'],
    timeout: PSQL_LIMIT_MS,
  }).trim();
}
