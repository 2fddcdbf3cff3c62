import { setMaxListeners } from 'node:events';
import { DelayedError, type Job, UnrecoverableError } from 'bullmq';
import {
  checkOptions,
  checkReceiver,
  readDuration,
  readInteger,
} from '../../receiver/checks/check-options.ts';
import { settledWithin } from '../../receiver/timing/time-limit.ts';
import type { Receiver } from '../../receiver-interface.ts';
import { type BullConnectionOptions, checkConnection, closeInTime, connectionLog } from './connection.ts';
import { FailedJobSweeper } from './failed-jobs.ts';
import { endJob, type JobEnd, sendBack, toEnd } from './job-end.ts';
import { type JobNotes, RunNotes, readNotes, type Suspicion, writeNotes } from './job-notes.ts';
import { readQueuePool } from './postgres/pool.ts';
import { postgresServer } from './postgres/server.ts';
import { redisServer } from './redis/server.ts';
import type { EngineWorker, QueueServer } from './server.ts';
import { readPostgresJson } from './stored-data.ts';
import { SuspectScheduler } from './suspect-scheduler.ts';
import { suspicionOf } from './suspicion.ts';
import { UncountedHour } from './uncounted-hour.ts';

/** The parts of a receiver that a worker uses. */
export type BullReceiver = Pick<Receiver, 'dispatch' | 'deadLetters'>;

/** Options of {@link createBullWorker}. */
export interface BullWorkerOptions extends BullConnectionOptions {
  /** The number of jobs that run at once; 10 by default. Use 1 for handlers that compute rather than wait. */
  readonly concurrency?: number | undefined;
}

/** Runs the jobs of a queue in this process. */
export interface BullWorker {
  /**
   * Takes no further jobs and waits for the running ones, for `graceMs` (25,000 by default) at most. Then it
   * aborts them and puts them back, which does not count as an attempt; `abandoned` has the ids of those
   * jobs. The connections have two more seconds to close: while the server is away they are cut off.
   */
  close(options?: { readonly graceMs?: number | undefined }): Promise<{ readonly abandoned: string[] }>;
}

/**
 * The time after which a frozen or dead worker loses the lock of a job. A worker renews the lock when half of
 * it is over.
 */
const LOCK_MS = 30_000;
/**
 * A job becomes a dead letter after its worker died this often while it ran alone. One death is not enough,
 * because deploys kill workers too.
 */
const MOST_ALONE_DEATHS = 2;
/**
 * A limit that is never reached, because BullMQ would blame all jobs of a dead worker alike. PostgreSQL takes
 * no larger number.
 */
const NO_STALL_LIMIT = 2 ** 31 - 1;

/**
 * Runs the queued handlers of a receiver. Register the same handlers as in the process that receives
 * deliveries. At the start and every minute, jobs that have failed for good become dead letters; without
 * `deadLetters` they stay among the failed jobs of the queue.
 *
 * @throws ConfigurationError for a wrong option.
 *
 * @example
 * ```ts
 * import { createBullWorker } from 'posthorn/bullmq';
 *
 * const worker = createBullWorker(receiver, { connection: { host: 'redis' }, scope: 'billing-production' });
 * process.once('SIGTERM', () => worker.close());
 * ```
 */
export function createBullWorker(receiver: BullReceiver, options: BullWorkerOptions): BullWorker {
  checkReceiver(receiver, 'createBullWorker', ['dispatch']);
  checkOptions(options, ['backend', 'connection', 'scope', 'concurrency'], 'createBullWorker');
  checkConnection('createBullWorker', options);
  const { concurrency = 10 } = options;
  readInteger('concurrency', concurrency, { most: 10_000 });
  const logError = connectionLog(`the worker of ${options.scope}`);
  return new JobWorker(receiver, serverOf(options, logError), logError, concurrency);
}

function serverOf(options: BullWorkerOptions, logError: (error: unknown) => void): QueueServer {
  if (options.backend !== 'postgres') return redisServer(options);
  const pool = readQueuePool('createBullWorker', options.connection);
  return postgresServer(pool, options.scope, logError);
}

class JobWorker implements BullWorker {
  readonly #receiver: BullReceiver;
  readonly #server: QueueServer;
  readonly #bull: EngineWorker;
  readonly #failedJobs: FailedJobSweeper;
  readonly #closing = new AbortController();
  readonly #running = new Set<Job>();
  readonly #scheduler: SuspectScheduler;
  readonly #concurrency: number;
  readonly #logError: (error: unknown) => void;
  #closed: Promise<{ abandoned: string[] }> | undefined;

  constructor(
    receiver: BullReceiver,
    server: QueueServer,
    logError: (error: unknown) => void,
    concurrency: number,
  ) {
    this.#receiver = receiver;
    this.#server = server;
    // Each running job listens to this signal, and Node.js warns of more than ten listeners.
    setMaxListeners(0, this.#closing.signal);
    this.#logError = logError;
    this.#bull = server.openWorker((job, token = '') => this.#run(job, token), {
      concurrency,
      lockDuration: LOCK_MS,
      stalledInterval: LOCK_MS,
      maxStalledCount: NO_STALL_LIMIT,
    });
    const source = {
      pause: () => void this.#bull.pause(true).catch(this.#logError),
      resume: () => void Promise.resolve(this.#bull.resume()).catch(this.#logError),
    };
    this.#scheduler = new SuspectScheduler(source, concurrency);
    this.#concurrency = concurrency;
    this.#bull.on('active', (job) => {
      // A worker of an earlier release marks a job that stalls too often as failed. The notes decide instead.
      const { suspicion, forgivenStalls } = readNotes(job);
      if (suspicion !== undefined || forgivenStalls !== undefined) job.deferredFailure = '';
    });
    this.#bull.on('error', this.#logError);
    this.#bull.on('failed', (job) => {
      if (job?.finishedOn !== undefined) this.#failedJobs.sweepSoon();
    });
    // Created last, because it sweeps at once: nothing would stop it if BullMQ then refused the connection.
    this.#failedJobs = new FailedJobSweeper(server.openFailedJobs(), receiver, this.#logError);
  }

  #run(job: Job, token: string): Promise<string> {
    const notes = readNotes(job);
    const suspicion = suspicionOf(job, notes, this.#concurrency);
    // If this worker is running the job already, the report is `event_running`, which puts the job back.
    const isHere = suspicion !== undefined && [...this.#running].some(({ id }) => id === job.id);
    if (suspicion === undefined || isHere) return this.#runOrdinary(job, token, notes);
    return this.#runSuspect(job, token, { ...notes, suspicion }, suspicion);
  }

  async #runOrdinary(job: Job, token: string, notes: JobNotes): Promise<string> {
    if (!this.#scheduler.tryEnter()) return sendBack(job, token, 'front');
    try {
      const { end, notes: noted } = await this.#dispatch(job, token, notes);
      const hasChanged =
        noted.handlerMissingSince !== notes.handlerMissingSince || noted.keyBusySince !== notes.keyBusySince;
      if (hasChanged && end.kind !== 'done') await writeNotes(job, token, LOCK_MS, noted);
      return await endJob(job, token, end);
    } finally {
      this.#scheduler.leave();
    }
  }

  async #runSuspect(job: Job, token: string, suspected: JobNotes, suspicion: Suspicion): Promise<string> {
    const write = (notes: JobNotes): Promise<boolean> => writeNotes(job, token, LOCK_MS, notes);
    if (suspicion.aloneDeaths >= MOST_ALONE_DEATHS) {
      // A retry of the failed job by hand gives it one more run.
      await write({ ...suspected, suspicion: { ...suspicion, aloneDeaths: MOST_ALONE_DEATHS - 1 } });
      throw new UnrecoverableError(
        `run_abandoned: the worker died or froze ${MOST_ALONE_DEATHS} times while the job ran alone in it`,
      );
    }
    const suspect = this.#scheduler.enterGroup(suspicion.limit);
    try {
      const isHeld = await write(suspected);
      const group = await suspect.admission;
      if (typeof group === 'string') return await sendBack(job, token, group);
      const started = { ...suspected, suspicion: { ...suspicion, group } };
      const isStarted = isHeld && (await write(started));
      // The error tells BullMQ not to move the job, because another worker has it.
      if (!isStarted) throw new DelayedError();
      const { end, notes } = await this.#dispatch(job, token, started);
      // The run has ended, so it did not kill its worker.
      const cleared = { ...notes, suspicion: undefined, forgivenStalls: job.stalledCounter };
      if (end.kind !== 'done') await write(end.kind === 'failed' ? cleared : { ...notes, suspicion });
      return await endJob(job, token, end);
    } finally {
      suspect.leave();
    }
  }

  /** Runs a job. Resolves with its end, and with the notes that the job should have then. */
  async #dispatch(job: Job, token: string, notes: JobNotes): Promise<{ end: JobEnd; notes: JobNotes }> {
    const attempt = job.attemptsMade + 1;
    const final = attempt >= (job.opts.attempts ?? 1);
    const { signal } = this.#closing;
    // The time when the job was handed out. In PostgreSQL it is by the clock of the server, which the workers
    // share.
    const hour = new UncountedHour(notes, job.processedOn ?? Date.now());
    const write = (changed: JobNotes): Promise<unknown> =>
      writeNotes(job, token, LOCK_MS, changed).catch(this.#logError);
    const running = new RunNotes(notes, write);
    this.#running.add(job);
    try {
      const options = {
        attempt,
        final,
        signal,
        handled: notes.handled,
        onHandled: running.noteHandled,
        parksMissing: hour.isOver('handler_missing'),
        parksBusyKey: hour.isOver('key_busy'),
        parksAbandoned: false,
      };
      const report = await this.#receiver.dispatch(readPostgresJson(job.data), options);
      const noted = await running.end();
      const end = toEnd(report, hour.passedMs(report.code));
      return { end, notes: hour.notesAfter(report.code, noted) };
    } finally {
      this.#running.delete(job);
    }
  }

  close(options: { readonly graceMs?: number | undefined } = {}): Promise<{ abandoned: string[] }> {
    checkOptions(options, ['graceMs'], 'close()');
    const { graceMs = 25_000 } = options;
    readDuration('graceMs', graceMs, { least: 0 });
    this.#closed ??= this.#close(graceMs);
    return this.#closed;
  }

  async #close(graceMs: number): Promise<{ abandoned: string[] }> {
    this.#failedJobs.stop();
    this.#scheduler.close();
    // Without running jobs, closing need not wait until the server is back.
    if (this.#running.size === 0) this.#server.endWaits();
    const closed = this.#bull.close().then(
      () => true,
      () => false,
    );
    let abandoned: string[] = [];
    if ((await settledWithin(closed, graceMs)) !== true) {
      // A job that was handed out again to this worker is listed twice.
      abandoned = [...new Set([...this.#running].map(({ id }) => id ?? ''))];
      this.#closing.abort(new Error('the worker is closing'));
    }
    const { cutOff } = this.#server;
    await Promise.all([closeInTime(this.#bull, cutOff), closeInTime(this.#failedJobs, cutOff)]);
    this.#server.endWaits();
    return { abandoned };
  }
}
