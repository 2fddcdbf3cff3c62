import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ReceiverOptions } from 'posthorn';
import { type ChildProgram, packageRoot, startProgram } from '../../support/child-program.ts';
import { ampleTime } from '../../support/limits.ts';
import { type Note, readNotes } from '../../support/notes.ts';
import { KEY } from './deliveries.ts';

/** One process of test/stores/redis/worker.mjs. */
export interface Worker extends ChildProgram {
  readonly pid: string;
  readonly url: string;
}

export interface WorkerOptions {
  readonly redisPort: number;
  readonly leaseMs: number;
  /** The limit of the commands of the store; ample if left out. */
  readonly commandTimeoutMs?: number;
  /** Whether handlers wait until `openGate` says how they end. */
  readonly gated: boolean;
  /** The client, if the Redis is a node of a Cluster. */
  readonly cluster?: 'ioredis Cluster' | 'node-redis Cluster';
  /** The directory of the dead letters; none are kept without. */
  readonly deadLetters?: string;
  /** Further options of the receivers. */
  readonly receiver?: Partial<ReceiverOptions>;
}

/** Receivers in processes of their own that share a Redis and a log. */
export class Workers {
  readonly #directory: string = mkdtempSync(join(tmpdir(), 'posthorn-workers-'));
  readonly #log: string = join(this.#directory, 'log');
  readonly #options: WorkerOptions;
  readonly #running = new Set<Worker>();

  constructor(options: WorkerOptions) {
    this.#options = options;
    writeFileSync(this.#log, '');
  }

  async start(): Promise<Worker> {
    const { redisPort, leaseMs, gated, cluster = 'single', deadLetters, receiver } = this.#options;
    const { commandTimeoutMs } = { ...ampleTime, ...this.#options };
    const program = startProgram(
      join(packageRoot, 'test', 'stores', 'redis', 'worker.mjs'),
      {
        PATH: process.env.PATH,
        REDIS_PORT: String(redisPort),
        LEASE_MS: String(leaseMs),
        COMMAND_TIMEOUT_MS: String(commandTimeoutMs),
        LOG: this.#log,
        KEY,
        CLIENT: cluster,
        ...(deadLetters && { DEAD_LETTERS: deadLetters }),
        ...(receiver && { OPTIONS: JSON.stringify(receiver) }),
        ...(gated && { GATES: this.#directory }),
      },
      packageRoot,
    );
    const [pid = '', , port = ''] = (await program.line(/ listening \d+$/)).split(' ');
    const worker = { ...program, pid, url: `http://127.0.0.1:${port}/` };
    this.#running.add(worker);
    return worker;
  }

  async kill(worker: Worker): Promise<void> {
    this.#running.delete(worker);
    worker.kill('SIGKILL');
    await worker.exit;
  }

  /** Lets the handler of one event end in one worker. */
  openGate(worker: Worker, id: string, end: 'succeed' | 'fail'): void {
    const gate = join(this.#directory, `${worker.pid}-${id}`);
    // Renamed, because the worker could find it empty while it is written, which would fail its handler.
    writeFileSync(`${gate}.written`, end);
    renameSync(`${gate}.written`, gate);
  }

  notes(): Note[] {
    return readNotes(this.#log);
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#running].map((worker) => this.kill(worker)));
    rmSync(this.#directory, { recursive: true, force: true });
  }
}
