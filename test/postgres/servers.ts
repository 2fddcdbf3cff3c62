import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { inject, onTestFinished } from 'vitest';
import { programPath } from '../../tools/programs.js';
import { onFreePort } from '../support/free-port.ts';
import { startedBy } from '../support/started-by.ts';
import { createOwnDirectory, user } from './template.ts';

/** How a server ends: it rolls back and writes a checkpoint, it drops everything, or the system kills it. */
export type StopMode = 'fast' | 'immediate' | 'kill';

/** A server process of its own, on a free port, with its data in a temporary directory. */
export interface PostgresServer {
  readonly port: number;
  /** Its data. */
  readonly directory: string;
  /** Ends it; resolves once it has ended. */
  readonly stop: (mode: StopMode) => Promise<void>;
  /** Starts it again on its port, with its data. */
  readonly restart: () => Promise<void>;
  /** Stops all its processes in their tracks, until the end of the test at the latest. */
  readonly freeze: () => void;
  readonly thaw: () => void;
  /** Runs SQL as the superuser and returns what psql prints: rows in lines, columns with `|` between them. */
  readonly sql: (sql: string, database?: string) => string;
}

/**
 * Settings of every server. Without `fsync` it is faster, and loses nothing unless the whole machine goes
 * down: what a process has written stays written when it is killed.
 */
const defaultSettings = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  fsync: 'off',
  shared_buffers: '32MB',
};

/** Servers that are stopped together, and whose files are then removed. */
export class Servers {
  readonly #directory: string = createOwnDirectory(join(tmpdir(), 'posthorn-postgres-'));
  readonly #running = new Set<ChildProcess>();

  async stop(): Promise<void> {
    await Promise.all([...this.#running].map((child) => stop(child, 'kill')));
    // A process of a killed server may write its last bytes meanwhile.
    rmSync(this.#directory, { recursive: true, force: true, maxRetries: 10 });
  }

  /** Starts a server. Further `settings` are as in postgresql.conf. */
  async single(settings: Readonly<Record<string, string>> = {}): Promise<PostgresServer> {
    const directory = this.#createDirectory();
    const start = (port: number): Promise<ChildProcess> =>
      this.#spawn(directory, { ...defaultSettings, ...settings, port: String(port) });
    let { port, child } = await onFreePort(start);
    const thaw = (): void => signalAll(child, 'SIGCONT');
    return {
      port,
      directory,
      stop: (mode) => stop(child, mode),
      restart: async () => {
        child = await start(port);
      },
      freeze: () => {
        onTestFinished(thaw);
        signalAll(child, 'SIGSTOP');
      },
      thaw,
      sql: (sql, database = 'postgres') => psql(port, database, sql),
    };
  }

  /** The data directory of a new server: copied, which takes a fifth of the time of `initdb`. */
  #createDirectory(): string {
    const parent = createOwnDirectory(join(this.#directory, 'server-'));
    execFileSync('cp', ['-a', inject('postgresTemplate'), join(parent, 'data')]);
    return join(parent, 'data');
  }

  async #spawn(directory: string, settings: Readonly<Record<string, string>>): Promise<ChildProcess> {
    const flags = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
    const child = spawn(programPath('postgres'), ['-D', directory, ...flags], {
      ...user,
      cwd: directory,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    this.#running.add(child);
    child.on('close', () => this.#running.delete(child));
    const printed: string[] = [];
    await new Promise<void>((resolve, reject) => {
      createInterface(child.stderr).on('line', (line) => {
        printed.push(line);
        if (line.endsWith('database system is ready to accept connections')) resolve();
      });
      child.on('error', reject);
      child.on('close', () => reject(new Error(`postgres ended:\n${printed.slice(-20).join('\n')}`)));
    });
    return child;
  }
}

const stopSignals = { fast: 'SIGINT', immediate: 'SIGQUIT', kill: 'SIGKILL' } as const;

async function stop(child: ChildProcess, mode: StopMode): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  // All its processes hold its stderr, so it is closed once the last of them has ended.
  const closed = once(child, 'close');
  if (mode === 'kill') signalAll(child, 'SIGKILL');
  else child.kill(stopSignals[mode]);
  await closed;
}

/** Signals a server and the processes that it has started, each of which leads a process group of its own. */
function signalAll(child: ChildProcess, signal: NodeJS.Signals): void {
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

function psql(port: number, database: string, sql: string): string {
  const settings = [
    '-XAtq',
    '-v',
    'ON_ERROR_STOP=1',
    '-h',
    '127.0.0.1',
    '-p',
    String(port),
    '-U',
    'postgres',
  ];
  return execFileSync(programPath('psql'), [...settings, '-d', database], {
    input: sql,
    encoding: 'utf8',
    stdio: ['pipe', 'pipe', 'pipe'],
    timeout: PSQL_LIMIT_MS,
  }).trim();
}
