import type { Outcome } from '../../receiver/outcomes/outcome.ts';
import { isReportCode, type ReportCode } from '../../receiver/refusals.ts';
import { clearInterval, setInterval } from '../../receiver/timing/process-clock.ts';
import { messageOf, propertyOf } from '../../receiver/values/foreign-values.ts';
import type { Receiver } from '../../receiver-interface.ts';
import { readNotes } from './job-notes.ts';
import type { FailedJobs } from './server.ts';
import { readPostgresJson } from './stored-data.ts';

const SWEEP_PAUSE_MS = 60_000;

/** The next step of the sweep, by the outcome of parking a job. */
const AFTER_LETTER: Readonly<Record<Outcome, 'remove the job' | 'leave the job' | 'end the sweep'>> = {
  parked: 'remove the job',
  duplicate: 'remove the job',
  processed: 'leave the job',
  ignored: 'leave the job',
  queued: 'leave the job',
  handshake: 'leave the job',
  rejected: 'leave the job',
  busy: 'leave the job',
  failed: 'end the sweep',
};

/**
 * Turns jobs that have failed for good into dead letters: their workers died too often, or no dead letter
 * could be stored at the last attempt. A job is removed once its dead letter is stored, or if its event was
 * handled meanwhile. An unreadable job stays, for a worker of a newer version.
 */
export class FailedJobSweeper {
  readonly #bull: FailedJobs;
  readonly #receiver: Pick<Receiver, 'dispatch' | 'deadLetters'>;
  readonly #logError: (error: unknown) => void;
  readonly #timer: NodeJS.Timeout;
  #swept: Promise<void> = Promise.resolve();
  #isDue = false;
  #isStopped = false;

  /** Sweeps now and every minute. */
  constructor(
    bull: FailedJobs,
    receiver: Pick<Receiver, 'dispatch' | 'deadLetters'>,
    logError: (error: unknown) => void,
  ) {
    this.#bull = bull;
    this.#receiver = receiver;
    this.#logError = logError;
    bull.on('error', logError);
    this.#timer = setInterval(() => this.sweepSoon(), SWEEP_PAUSE_MS).unref();
    this.sweepSoon();
  }

  /** Sweeps when the sweep that is running has ended. */
  sweepSoon(): void {
    if (this.#receiver.deadLetters === undefined || this.#isDue) return;
    this.#isDue = true;
    this.#swept = this.#swept.then(() => this.#sweep()).catch(this.#logError);
  }

  /** Ends the sweep after the job that it is handling. */
  stop(): void {
    clearInterval(this.#timer);
    this.#isStopped = true;
  }

  async close(): Promise<void> {
    await this.#swept;
    await this.#bull.close();
  }

  disconnect(): Promise<void> {
    return this.#bull.disconnect();
  }

  async #sweep(): Promise<void> {
    this.#isDue = false;
    const ids = await this.#bull.getRanges(['failed'], 0, -1, true);
    // A random start keeps apart the workers that sweep at once. And a dead letter that is always refused,
    // which ends the sweep, is not always the first.
    const start = Math.floor(Math.random() * ids.length);
    for (const id of [...ids.slice(start), ...ids.slice(0, start)]) {
      if (this.#isStopped || !(await this.#moveToLetters(id))) return;
    }
  }

  /** Resolves with false if the dead letter could not be stored. */
  async #moveToLetters(id: string): Promise<boolean> {
    // The job is read only now. Another worker may have removed it meanwhile, and its dead letter may have
    // been replayed: the dead letter must not be stored again.
    const job = await this.#bull.getJob(id);
    if (job === undefined || !(await job.isFailed())) return true;
    const data = readPostgresJson(job.data);
    if (!canDispatch(this.#receiver, data)) return true;
    const { outcome } = await this.#receiver.dispatch(data, {
      attempt: Math.max(1, job.attemptsMade),
      final: true,
      failure: readFailure(job.failedReason),
      handled: readNotes(job).handled,
    });
    // `job.remove()` would throw in PostgreSQL if another worker has removed the job meanwhile.
    if (AFTER_LETTER[outcome] === 'remove the job') await this.#bull.remove(id);
    return AFTER_LETTER[outcome] !== 'end the sweep';
  }
}

/** Returns true if the receiver can read a job. If not, each sweep would report it again. */
function canDispatch(receiver: object, data: unknown): boolean {
  const check = propertyOf(receiver, 'canDispatch');
  return typeof check !== 'function' || check.call(receiver, data) === true;
}

/** Reads the failure from its text, in which the worker puts the code before the message. */
function readFailure(failedReason: string): { readonly code: ReportCode; readonly message: string } {
  const [code = ''] = failedReason.split(': ', 1);
  if (isReportCode(code)) return { code, message: failedReason.slice(code.length + 2) };
  // BullMQ itself fails a job only if its workers died or froze with it.
  const isAbandoned = /stalled|started more than/.test(failedReason);
  return { code: isAbandoned ? 'run_abandoned' : 'handler_failed', message: messageOf(failedReason) };
}
