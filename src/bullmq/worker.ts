import { setMaxListeners } from 'node:events';
import {
  Worker as BullmqWorker,
  Queue as BullQueue,
  DelayedError,
  type Job,
  UnrecoverableError,
} from 'bullmq';
import { checkOptions, checkReceiver, readDuration, readInteger } from '../check-options.ts';
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
import { endJob, type JobEnd, sendBack, toEnd } from './job-end.ts';
import { type JobNotes, readNotes, type Suspicion, writeNotes } from './job-notes.ts';
import { SuspectTurns } from './suspect-turns.ts';
import { judge } from './suspicion.ts';

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

/** Before the lock of a job is taken from a worker that is frozen or dead. It is renewed every half of it. */
const LOCK_MS = 30_000;
/** How often a worker may die with a job that runs alone, before this becomes a letter. Deploys kill, too. */
const MOST_ALONE_DEATHS = 2;
/** BullMQ would blame all jobs of a dead worker alike: its count never decides. */
const NO_STALL_LIMIT = Number.MAX_SAFE_INTEGER;
/** The longest deploy: for so long workers may lack a handler of a job, and it makes no attempt. */
const LONGEST_DEPLOY_MS = 3_600_000;

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
  checkReceiver(receiver, 'createBullWorker', ['dispatch']);
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
  readonly #turns: SuspectTurns;
  readonly #concurrency: number;
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
    this.#bull = new BullmqWorker(scope, (job, token = '') => this.#run(job, token), {
      ...shared,
      concurrency,
      lockDuration: LOCK_MS,
      stalledInterval: LOCK_MS,
      maxStalledCount: NO_STALL_LIMIT,
    });
    const failed = (error: unknown): void => this.#logError(error);
    const source = {
      pause: () => void this.#bull.pause(true).catch(failed),
      resume: () => void Promise.resolve(this.#bull.resume()).catch(failed),
    };
    this.#turns = new SuspectTurns(source, concurrency);
    this.#concurrency = concurrency;
    this.#bull.on('active', (job) => {
      // A worker of an earlier release has counted: the notes of the job know better.
      const { suspicion, forgivenStalls } = readNotes(job);
      if (suspicion !== undefined || forgivenStalls !== undefined) job.deferredFailure = '';
    });
    this.#bull.on('error', this.#logError);
    this.#bull.on('failed', (job) => {
      if (job?.finishedOn !== undefined) this.#sweepSoon();
    });
    this.#sweepTimer = setInterval(() => this.#sweepSoon(), SWEEP_PAUSE_MS).unref();
    this.#sweepSoon();
  }

  #run(job: Job, token: string): Promise<string> {
    const notes = readNotes(job);
    const suspicion = judge(job, notes, this.#concurrency);
    // A job that came again to the worker that runs it is put back at once, and its handlers do not run.
    const isHere = suspicion !== undefined && [...this.#running].some(({ id }) => id === job.id);
    if (suspicion === undefined || isHere) return this.#runOrdinary(job, token, notes);
    return this.#runSuspect(job, token, { ...notes, suspicion }, suspicion);
  }

  async #runOrdinary(job: Job, token: string, notes: JobNotes): Promise<string> {
    if (!this.#turns.tryEnter()) return sendBack(job, token, 'front');
    try {
      const { end, notes: noted } = await this.#dispatch(job, notes);
      if (noted !== notes) await writeNotes(job, token, LOCK_MS, noted);
      return await endJob(job, token, end);
    } finally {
      this.#turns.leave();
    }
  }

  async #runSuspect(job: Job, token: string, judged: JobNotes, suspicion: Suspicion): Promise<string> {
    const write = (notes: JobNotes): Promise<boolean> => writeNotes(job, token, LOCK_MS, notes);
    if (suspicion.aloneDeaths >= MOST_ALONE_DEATHS) {
      // If somebody has the failed job tried again, it has one more run.
      await write({ ...judged, suspicion: { ...suspicion, aloneDeaths: MOST_ALONE_DEATHS - 1 } });
      throw new UnrecoverableError(
        `run_abandoned: the worker died or froze ${MOST_ALONE_DEATHS} times while the job ran alone in it`,
      );
    }
    const place = this.#turns.enterGroup(suspicion.limit);
    try {
      const isHeld = await write(judged);
      const group = await place.size;
      if (typeof group === 'string') return await sendBack(job, token, group);
      const isStarted = isHeld && (await write({ ...judged, suspicion: { ...suspicion, group } }));
      // Another worker has the job: BullMQ need not move it.
      if (!isStarted) throw new DelayedError();
      const { end, notes } = await this.#dispatch(job, judged);
      // A run that has ended by itself has not killed its worker.
      const cleared = { ...notes, suspicion: undefined, forgivenStalls: job.stalledCounter };
      if (end.kind !== 'done') await write(end.kind === 'failed' ? cleared : notes);
      return await endJob(job, token, end);
    } finally {
      place.leave();
    }
  }

  async #dispatch(job: Job, notes: JobNotes): Promise<{ end: JobEnd; notes: JobNotes }> {
    const attempt = job.attemptsMade + 1;
    const final = attempt >= (job.opts.attempts ?? 1);
    const { signal } = this.#closing;
    const now = Date.now();
    // Clocks of workers differ; the earliest counts.
    const handlerMissingSince = Math.min(notes.handlerMissingSince ?? now, now);
    const isDeploy = now - handlerMissingSince < LONGEST_DEPLOY_MS;
    this.#running.add(job);
    try {
      const options = { attempt, final, signal, parksMissing: !isDeploy, parksAbandoned: false };
      const report = await this.#receiver.dispatch(job.data, options);
      const end = toEnd(report, isDeploy ? now - handlerMissingSince : undefined);
      const isNoted = report.code !== 'handler_missing' || handlerMissingSince === notes.handlerMissingSince;
      return { end, notes: isNoted ? notes : { ...notes, handlerMissingSince } };
    } finally {
      this.#running.delete(job);
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
    this.#turns.close();
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
