import { type ChildProcess, execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inject, onTestFinished } from 'vitest';
import { onFreePort } from '../../support/free-port.ts';
import { psql, type Settings, type StopMode, signalAll, startServer, stopServer } from './server-process.ts';
import { createOwnDirectory } from './template.ts';

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

/** Servers that are stopped together, and whose files are then removed. */
export class Servers {
  readonly #directory: string = createOwnDirectory(join(tmpdir(), 'posthorn-postgres-'));
  readonly #running = new Set<ChildProcess>();

  async stop(): Promise<void> {
    await Promise.all([...this.#running].map((child) => stopServer(child, 'kill')));
    // A process of a killed server may write its last bytes meanwhile.
    rmSync(this.#directory, { recursive: true, force: true, maxRetries: 10 });
  }

  /** Starts a server. */
  async single(settings: Settings = {}): Promise<PostgresServer> {
    const directory = this.#createDirectory();
    const start = async (port: number): Promise<ChildProcess> => {
      const { child, ready } = startServer(directory, port, settings);
      this.#running.add(child);
      child.on('close', () => this.#running.delete(child));
      await ready;
      return child;
    };
    let { port, child } = await onFreePort(start);
    const thaw = (): void => signalAll(child, 'SIGCONT');
    return {
      port,
      directory,
      stop: (mode) => stopServer(child, mode),
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
}
