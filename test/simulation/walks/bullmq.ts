// In the place of `bullmq`: the parts that src/queues/bullmq uses, over the queue of the world.
import { clock } from '../clock.ts';
import type { WalkProcess } from './process.ts';
import type { QueueServer, StoredJob } from './queue-server.ts';

interface Connected {
  readonly connection: { readonly process: WalkProcess };
}

export class DelayedError extends Error {}
export class WaitingError extends Error {}
export class UnrecoverableError extends Error {}

/** The queue of the world is in none of the servers; src/queues/bullmq/postgres names these all the same. */
export class SchemaMigrationRequiredError extends Error {}
export class SchemaVersionMismatchError extends Error {}
export class UnsupportedPostgresVersionError extends Error {}
export const LATEST_SCHEMA_VERSION = 0;
export {
  notThere as assertSchemaCompatibility,
  notThere as createPostgresBackend,
  notThere as runMigrations,
};

function notThere(): never {
  throw new Error('the world has no PostgreSQL');
}

type Listener = (...values: unknown[]) => void;

/** Sends commands for a process. */
class Commands {
  readonly process: WalkProcess;

  constructor(process: WalkProcess) {
    this.process = process;
  }

  send<T>(about: string, id: string | undefined, perform: (server: QueueServer) => T): Promise<T> {
    const { queue } = this.process.world;
    const event = id === undefined ? undefined : queue.jobs.get(id)?.event;
    return this.process.send('command', `queue command "${about}"`, event, () => perform(queue));
  }
}

/** A job as it was when it was read. */
export class Job {
  readonly id: string;
  readonly name: string;
  readonly data: unknown;
  readonly progress: unknown;
  readonly attemptsMade: number;
  readonly stalledCounter: number;
  readonly opts: { readonly attempts: number };
  failedReason: string;
  finishedOn: number | undefined;
  deferredFailure: string | undefined;
  readonly #commands: Commands;

  constructor(commands: Commands, job: StoredJob, attempts: number) {
    this.#commands = commands;
    this.id = job.id;
    this.name = job.name;
    this.data = structuredClone(job.data);
    this.progress = structuredClone(job.progress);
    this.attemptsMade = job.attemptsMade;
    this.stalledCounter = job.stalledCounter;
    this.opts = { attempts };
    this.failedReason = job.failedReason;
  }

  extendLock(token: string, lockMs: number): Promise<number> {
    return this.#commands.send('extend lock', this.id, (server) => server.extendLock(this.id, token, lockMs));
  }

  updateProgress(progress: unknown): Promise<void> {
    return this.#commands.send('update progress', this.id, (server) =>
      server.updateProgress(this.id, progress),
    );
  }

  moveToDelayed(at: number, token: string): Promise<void> {
    const pauseMs = at - Date.now();
    return this.#commands.send('delay', this.id, (server) => server.delay(this.id, token, pauseMs));
  }

  moveToWait(token: string): Promise<void> {
    return this.#commands.send('put back', this.id, (server) => server.moveToWait(this.id, token));
  }

  isFailed(): Promise<boolean> {
    return this.#commands.send(
      'is failed',
      this.id,
      (server) => server.jobs.get(this.id)?.state === 'failed',
    );
  }
}

/** The part of a queue that adds and reads jobs. */
export class Queue {
  readonly #commands: Commands;

  constructor(_name: string, { connection }: Connected) {
    this.#commands = new Commands(connection.process);
  }

  on(): this {
    return this;
  }

  getBackend(): { readonly client: Promise<{ readonly status: string }> } {
    return { client: Promise.resolve({ status: 'ready' }) };
  }

  add(name: string, data: { readonly id: string }, { jobId }: { readonly jobId: string }): Promise<void> {
    const { world } = this.#commands.process;
    const event = world.eventOf(data.id);
    if (event === undefined) throw new Error(`the world has no event ${data.id}`);
    const stored: unknown = JSON.parse(JSON.stringify(data));
    event.jobsSent += 1;
    return this.#commands.process.send('command', 'queue command "add"', event, () =>
      world.queue.add(jobId, name, stored, event),
    );
  }

  getRanges(): Promise<string[]> {
    return this.#commands.send('failed jobs', undefined, ({ jobs }) =>
      [...jobs.values()].filter(({ state }) => state === 'failed').map(({ id }) => id),
    );
  }

  getJob(id: string): Promise<Job | undefined> {
    return this.#commands.send('get', id, (server) => {
      const job = server.jobs.get(id);
      return job && new Job(this.#commands, job, server.attempts);
    });
  }

  remove(id: string): Promise<void> {
    return this.#commands.send('remove', id, (server) => server.remove(id));
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  disconnect(): Promise<void> {
    return Promise.resolve();
  }
}

interface WorkerOptions extends Connected {
  readonly concurrency: number;
  readonly lockDuration: number;
}

/** The part of a worker that the world sees. */
export type SimulatedWorker = Pick<Worker, 'canTake' | 'take'>;

/** Runs the jobs that the world lets it take. */
export class Worker {
  readonly #commands: Commands;
  readonly #processor: (job: Job, token: string) => Promise<unknown>;
  readonly #options: WorkerOptions;
  readonly #listeners = new Map<string, Listener[]>();
  readonly #running = new Set<Promise<void>>();
  #taken = 0;
  #isPaused = false;
  #isClosing = false;

  constructor(
    _name: string,
    processor: (job: Job, token: string) => Promise<unknown>,
    options: WorkerOptions,
  ) {
    this.#commands = new Commands(options.connection.process);
    this.#processor = processor;
    this.#options = options;
    options.connection.process.bullWorkers.push(this);
  }

  on(name: string, listener: Listener): this {
    this.#listeners.set(name, [...(this.#listeners.get(name) ?? []), listener]);
    return this;
  }

  #emit(name: string, ...values: unknown[]): void {
    for (const listener of this.#listeners.get(name) ?? []) listener(...values);
  }

  canTake(): boolean {
    return !this.#isPaused && !this.#isClosing && this.#running.size < this.#options.concurrency;
  }

  take(): void {
    const { process } = this.#commands;
    this.#taken += 1;
    const token = `${process.name}:${this.#taken}`;
    const stored = process.world.queue.take(token, this.#options.lockDuration);
    if (stored === undefined) return;
    process.events.add(stored.event);
    const job = new Job(this.#commands, stored, process.world.queue.attempts);
    const running = this.#run(job, token).finally(() => this.#running.delete(running));
    this.#running.add(running);
  }

  async #run(job: Job, token: string): Promise<void> {
    this.#emit('active', job);
    const { lockDuration } = this.#options;
    const renewal = setInterval(() => {
      job.extendLock(token, lockDuration).catch((error: unknown) => this.#emit('error', error));
    }, lockDuration / 2);
    try {
      const end = await this.#end(job, token);
      clearInterval(renewal);
      await end();
    } catch (error) {
      this.#emit('error', error);
    }
  }

  /** Runs the job; resolves with what records its end. */
  async #end(job: Job, token: string): Promise<() => Promise<void>> {
    try {
      await this.#processor(job, token);
      return () => this.#commands.send('complete', job.id, (server) => server.complete(job.id, token));
    } catch (error) {
      if (error instanceof DelayedError || error instanceof WaitingError) return async () => {};
      return () => this.#fail(job, token, error);
    }
  }

  async #fail(job: Job, token: string, error: unknown): Promise<void> {
    const reason = error instanceof Error ? error.message : String(error);
    const isRecoverable = !(error instanceof UnrecoverableError);
    const isOver = await this.#commands.send('fail', job.id, (server) =>
      server.fail(job.id, token, reason, isRecoverable),
    );
    if (isOver) job.finishedOn = clock.wallTime;
    job.failedReason = reason;
    this.#emit('failed', job, error);
  }

  pause(): Promise<void> {
    this.#isPaused = true;
    return Promise.resolve();
  }

  resume(): void {
    this.#isPaused = false;
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    await Promise.all(this.#running);
  }

  disconnect(): Promise<void> {
    return Promise.resolve();
  }
}
