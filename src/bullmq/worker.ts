import { setMaxListeners } from 'node:events';
import {
  Worker as BullmqWorker,
  Queue as BullQueue,
  DelayedError,
  type Job,
  UnrecoverableError,
} from 'bullmq';
import { checkOptions, readDuration, readInteger } from '../check-options.ts';
import { ConfigurationError } from '../errors.ts';
import type { Receiver } from '../receiver-interface.ts';
import { settledWithin } from '../timing/time-limit.ts';
import {
  type BullConnectionOptions,
  checkConnection,
  closeInTime,
  connectionLog,
  KEY_PREFIX,
} from './connection.ts';
import { sweepFailedJobs } from './failed-jobs.ts';

/** The parts of a receiver that a worker uses. */
export type BullReceiver = Pick<Receiver, 'dispatch' | 'deadLetters'>;

/** Options of {@link createBullWorker}. */
export interface BullWorkerOptions extends BullConnectionOptions {
  /** How many jobs it runs at once; 10 by default. Handlers that compute rather than wait need 1. */
  readonly concurrency?: number;
}

/** Runs the jobs of a queue in this process. */
export interface BullWorker {
  /**
   * Takes no further jobs and waits for those that run, for `graceMs` (25,000 by default) at most; then it
   * aborts them and puts them back, which counts as no attempt. `abandoned` has the ids of their jobs. The
   * connections have two seconds more to close: while Redis is away they are cut off.
   */
  close(options?: { readonly graceMs?: number }): Promise<{ readonly abandoned: string[] }>;
}

/** How long a job is put back that another process runs, or that cannot run now. */
const BUSY_PAUSE_MS = 5_000;
/** Another worker can have it soon; this one must not take it again and again before it has ended. */
const CLOSING_PAUSE_MS = 1_000;

/** Before the lock of a job is taken from a worker that is frozen or dead. It is renewed every half of it. */
const LOCK_MS = 30_000;
/** How often a job may outlive its worker; a deploy can kill a worker as well. Then it becomes a letter. */
const MOST_STALLS = 2;

const SWEEP_PAUSE_MS = 60_000;

/**
 * Runs the queued handlers of a receiver: register the same handlers as where the deliveries come. Jobs that
 * the queue has failed become dead letters, at the start and every minute; without `deadLetters` they stay
 * among the failed jobs of the queue.
 *
 * @throws ConfigurationError for a wrong option.
 *
 * @example
 * ```ts
 * const worker = createBullWorker(receiver, { connection: { host: 'redis' }, scope: 'billing-production' });
 * process.once('SIGTERM', () => worker.close());
 * ```
 */
export function createBullWorker(receiver: BullReceiver, options: BullWorkerOptions): BullWorker {
  if (typeof receiver?.dispatch !== 'function')
    throw new ConfigurationError('createBullWorker takes a receiver, and then its options');
  checkOptions(options, ['connection', 'scope', 'concurrency'], 'createBullWorker');
  checkConnection('createBullWorker', options);
  const concurrency = readInteger('concurrency', options.concurrency, 10, 10_000);
  return new JobWorker(receiver, options, concurrency);
}

class JobWorker implements BullWorker {
  readonly #receiver: BullReceiver;
  readonly #bull: BullmqWorker;
  readonly #failed: BullQueue;
  readonly #closing = new AbortController();
  readonly #running = new Set<Job>();
  readonly #logError: (error: unknown) => void;
  readonly #sweepTimer: NodeJS.Timeout;
  #sweep: Promise<void> = Promise.resolve();
  #closed: Promise<{ abandoned: string[] }> | undefined;

  constructor(receiver: BullReceiver, { connection, scope }: BullConnectionOptions, concurrency: number) {
    this.#receiver = receiver;
    // Each job that runs listens to it, and Node.js warns of more than ten.
    setMaxListeners(0, this.#closing.signal);
    this.#logError = connectionLog(`the worker of ${scope}`);
    const shared = { connection, prefix: KEY_PREFIX };
    this.#failed = new BullQueue(scope, shared);
    this.#failed.on('error', this.#logError);
    this.#bull = new BullmqWorker(scope, (job, token) => this.#run(job, token), {
      ...shared,
      concurrency,
      lockDuration: LOCK_MS,
      stalledInterval: LOCK_MS,
      maxStalledCount: MOST_STALLS,
    });
    this.#bull.on('error', this.#logError);
    this.#bull.on('failed', (job) => {
      if (job?.finishedOn !== undefined) this.#sweepSoon();
    });
    this.#sweepTimer = setInterval(() => this.#sweepSoon(), SWEEP_PAUSE_MS).unref();
    this.#sweepSoon();
  }

  /** Resolves with the outcome of a job that is done; throws what tells BullMQ how to go on. */
  async #run(job: Job, token: string | undefined): Promise<string> {
    this.#running.add(job);
    try {
      return await this.#dispatch(job, token);
    } finally {
      this.#running.delete(job);
    }
  }

  async #dispatch(job: Job, token: string | undefined): Promise<string> {
    const attempt = job.attemptsMade + 1;
    const final = attempt >= (job.opts.attempts ?? 1);
    const { signal } = this.#closing;
    const { outcome, error } = await this.#receiver.dispatch(job.data, { attempt, final, signal });
    if (error === undefined || outcome === 'parked') return outcome;
    switch (error.code) {
      case 'twin_running':
      case 'store_unavailable':
        return putBack(job, token, BUSY_PAUSE_MS);
      case 'closing':
      case 'run_closed':
        return putBack(job, token, CLOSING_PAUSE_MS);
      case 'handler_failed_permanently':
        throw new UnrecoverableError(`${error.code}: ${error.message}`);
      default:
        throw new Error(`${error.code}: ${error.message}`, { cause: error });
    }
  }

  /** One sweep at a time. */
  #sweepSoon(): void {
    const { deadLetters } = this.#receiver;
    if (deadLetters === undefined) return;
    this.#sweep = this.#sweep
      .then(() => (this.#closed === undefined ? sweepFailedJobs(this.#failed, deadLetters) : undefined))
      .catch(this.#logError);
  }

  close(options: { readonly graceMs?: number } = {}): Promise<{ abandoned: string[] }> {
    checkOptions(options, ['graceMs'], 'close()');
    const graceMs = readDuration('graceMs', options.graceMs, 25_000, 0);
    this.#closed ??= this.#close(graceMs);
    return this.#closed;
  }

  async #close(graceMs: number): Promise<{ abandoned: string[] }> {
    clearInterval(this.#sweepTimer);
    const closed = this.#bull.close().then(() => true);
    let abandoned: string[] = [];
    if ((await settledWithin(closed, graceMs)) !== true) {
      // A job that came again to the worker that runs it is there twice.
      abandoned = [...new Set([...this.#running].map(({ id }) => id ?? ''))];
      this.#closing.abort(new Error('the worker is closing'));
    }
    const sweeping = {
      close: () => this.#sweep.then(() => this.#failed.close()),
      disconnect: () => this.#failed.disconnect(),
    };
    await Promise.all([closeInTime(this.#bull), closeInTime(sweeping)]);
    return { abandoned };
  }
}

/**
 * `moveToDelayed` leaves the count of attempts as it is; the error tells BullMQ that the job has been moved.
 */
async function putBack(job: Job, token: string | undefined, pauseMs: number): Promise<never> {
  await job.moveToDelayed(Date.now() + pauseMs * (0.5 + Math.random() / 2), token);
  throw new DelayedError();
}
