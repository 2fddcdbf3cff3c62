import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { onTestFinished } from 'vitest';
import { freePort, onFreePort } from '../../support/free-port.ts';
import { until } from '../../support/until.ts';

/** A server process of its own, on a free port, that keeps nothing on disk. */
export interface RedisServer {
  readonly port: number;
  /** A server that is stopped (SIGSTOP) goes on at the end of the test at the latest. */
  readonly signal: (signal: NodeJS.Signals) => void;
  /** Kills it; resolves once it has ended. */
  readonly kill: () => Promise<void>;
  /** Starts it again on its port, empty. */
  readonly restart: () => Promise<void>;
  /** Runs a command and resolves with what redis-cli prints. */
  readonly command: (...command: string[]) => string;
}

/** Servers that are stopped together, and whose files are then removed. */
export class Servers {
  readonly #directory: string = mkdtempSync(join(tmpdir(), 'posthorn-redis-'));
  readonly #running = new Set<ChildProcess>();

  async stop(): Promise<void> {
    await Promise.all([...this.#running].map((child) => kill(child)));
    rmSync(this.#directory, { recursive: true, force: true });
  }

  /** Starts a single Redis. Further `settings` are as in redis.conf. */
  async single(settings: Readonly<Record<string, string>> = {}): Promise<RedisServer> {
    const directory = mkdtempSync(join(this.#directory, 'server-'));
    let clusterPort: Readonly<Record<string, string>> = {};
    const start = async (port: number): Promise<ChildProcess> => {
      const own = { port: String(port), bind: '127.0.0.1', dir: directory, save: '""' };
      return this.#spawn(directory, { ...own, ...settings, ...clusterPort }, /Ready to accept connections/);
    };
    let { port, child } = await onFreePort(async (candidate) => {
      if ('cluster-enabled' in settings) clusterPort = { 'cluster-port': String(await freePort()) };
      return start(candidate);
    });
    return {
      port,
      signal: (signal) => {
        if (signal === 'SIGSTOP') onTestFinished(() => void child.kill('SIGCONT'));
        child.kill(signal);
      },
      kill: () => kill(child),
      restart: async () => {
        child = await start(port);
      },
      command: (...command) => cli(port, command),
    };
  }

  /** Three masters with a replica each. */
  async cluster({ nodeTimeoutMs = 2_000 }: { nodeTimeoutMs?: number } = {}): Promise<readonly RedisServer[]> {
    const nodes = await Promise.all(
      Array.from({ length: 6 }, () =>
        this.single({
          'cluster-enabled': 'yes',
          'cluster-node-timeout': String(nodeTimeoutMs),
        }),
      ),
    );
    const addresses = nodes.map(({ port }) => `127.0.0.1:${port}`);
    execFileSync(
      'redis-cli',
      ['--cluster', 'create', ...addresses, '--cluster-replicas', '1', '--cluster-yes'],
      { stdio: 'pipe' },
    );
    await until('the Cluster is up', () =>
      nodes.every(({ command }) => command('cluster', 'info').includes('cluster_state:ok')),
    );
    await until('every replica follows its master', () =>
      nodes.every(({ command }) =>
        /connected_slaves:1|master_link_status:up/.test(command('info', 'replication')),
      ),
    );
    return nodes;
  }

  /** A master with a replica, and three Sentinels that watch it under the name `primary`. */
  async sentinel({
    downAfterMs = 1_000,
  } = {}): Promise<{ master: RedisServer; replica: RedisServer; sentinelPorts: readonly number[] }> {
    const master = await this.single();
    const replica = await this.single({ replicaof: `127.0.0.1 ${master.port}` });
    await until('the replica follows', () =>
      replica.command('info', 'replication').includes('master_link_status:up'),
    );
    const sentinels = await Promise.all(
      Array.from({ length: 3 }, () => this.#sentinel(master.port, downAfterMs)),
    );
    await until('the Sentinels know each other and the replica', () =>
      sentinels.every((port) => {
        const known = cli(port, ['sentinel', 'master', 'primary']).split('\n');
        const countOf = (name: string): string | undefined => known[known.indexOf(name) + 1];
        return countOf('num-other-sentinels') === '2' && countOf('num-slaves') === '1';
      }),
    );
    return { master, replica, sentinelPorts: sentinels };
  }

  async #sentinel(masterPort: number, downAfterMs: number): Promise<number> {
    const directory = mkdtempSync(join(this.#directory, 'sentinel-'));
    const { port } = await onFreePort((candidate) => {
      const settings = {
        port: String(candidate),
        bind: '127.0.0.1',
        dir: directory,
        'sentinel monitor': `primary 127.0.0.1 ${masterPort} 2`,
        'sentinel down-after-milliseconds': `primary ${downAfterMs}`,
        'sentinel failover-timeout': 'primary 5000',
      };
      return this.#spawn(directory, settings, /\+monitor master primary/, '--sentinel');
    });
    return port;
  }

  async #spawn(
    directory: string,
    settings: Readonly<Record<string, string>>,
    ready: RegExp,
    ...flags: string[]
  ): Promise<ChildProcess> {
    const path = join(directory, 'redis.conf');
    const lines = Object.entries(settings).map(([name, value]) => `${name} ${value}\n`);
    writeFileSync(path, lines.join(''));
    const child = spawn('redis-server', [path, ...flags], { stdio: ['ignore', 'pipe', 'pipe'] });
    this.#running.add(child);
    child.on('close', () => this.#running.delete(child));
    const printed: string[] = [];
    await new Promise<void>((resolve, reject) => {
      createInterface(child.stdout).on('line', (line) => {
        printed.push(line);
        if (ready.test(line)) resolve();
      });
      child.on('error', reject);
      child.on('close', () => reject(new Error(`redis-server ended:\n${printed.join('\n')}`)));
    });
    return child;
  }
}

/** For redis-cli, which waits without end for a server that is stopped, and the whole process with it. */
const CLI_LIMIT_MS = 20_000;

function cli(port: number, command: readonly string[]): string {
  const options = { encoding: 'utf8', timeout: CLI_LIMIT_MS } as const;
  return execFileSync('redis-cli', ['-p', String(port), ...command], options).trim();
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const closed = once(child, 'close');
  child.kill('SIGKILL');
  await closed;
}
