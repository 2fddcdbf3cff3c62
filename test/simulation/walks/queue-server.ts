import { readNotes } from '../../../src/queues/bullmq/job-notes.ts';
import { clock } from '../clock.ts';
import { noteHandled } from './claim-promises.ts';
import { noteJobFailed, noteJobRemoved } from './letter-promises.ts';
import type { SimulatedEvent } from './simulated-event.ts';
import type { WalkWorld } from './world.ts';

/** A job as Redis has it. */
export interface StoredJob {
  readonly id: string;
  readonly name: string;
  readonly event: SimulatedEvent;
  readonly data: unknown;
  progress: unknown;
  attemptsMade: number;
  stalledCounter: number;
  state: 'waiting' | 'active' | 'delayed' | 'failed';
  /** Of the worker that runs it, with the end of its lock. */
  lockToken: string | undefined;
  lockedUntil: number;
  delayedUntil: number;
  failedReason: string;
}

/** The queue of BullMQ in Redis. */
export class QueueServer {
  readonly #world: WalkWorld;
  readonly jobs: Map<string, StoredJob> = new Map();
  /** The ids of jobs that wait, the next one first. */
  readonly #waiting: string[] = [];

  constructor(world: WalkWorld) {
    this.#world = world;
  }

  get attempts(): number {
    return this.#world.configuration.jobAttempts;
  }

  /** BullMQ ignores a job whose id it has. */
  add(id: string, name: string, data: unknown, event: SimulatedEvent): void {
    event.isQueued = true;
    if (this.jobs.has(id)) return;
    const fresh = { progress: 0, attemptsMade: 0, stalledCounter: 0, failedReason: '' };
    const unlocked = { lockToken: undefined, lockedUntil: 0, delayedUntil: 0 };
    this.jobs.set(id, { id, name, event, data, ...fresh, ...unlocked, state: 'waiting' });
    this.#waiting.push(id);
  }

  /** Delayed jobs that are due wait again. */
  promote(): void {
    for (const job of this.jobs.values())
      if (job.state === 'delayed' && job.delayedUntil <= clock.now) this.#wait(job, 'back');
  }

  get hasWaiting(): boolean {
    return this.#waiting.length > 0;
  }

  take(lockToken: string, lockMs: number): StoredJob | undefined {
    const job = this.jobs.get(this.#waiting.shift() ?? '');
    if (job === undefined) return undefined;
    Object.assign(job, { state: 'active', lockToken, lockedUntil: clock.now + lockMs });
    return job;
  }

  /** Active jobs whose worker has lost its lock. */
  get stalled(): StoredJob[] {
    return [...this.jobs.values()].filter(
      ({ state, lockedUntil }) => state === 'active' && lockedUntil <= clock.now,
    );
  }

  giveBackStalled(job: StoredJob): void {
    job.stalledCounter += 1;
    this.#wait(job, 'front');
  }

  extendLock(id: string, token: string, lockMs: number): number {
    const job = this.jobs.get(id);
    if (!isLocked(job, token)) return 0;
    job.lockedUntil = clock.now + lockMs;
    return 1;
  }

  updateProgress(id: string, progress: unknown): void {
    const job = this.jobs.get(id);
    if (job === undefined) throw new Error(`Missing key for job ${id}. updateProgress`);
    job.progress = structuredClone(progress);
    noteHandled(this.#world, job.event, `job ${job.event.id}`, handledIn(progress));
  }

  delay(id: string, token: string, pauseMs: number): void {
    const job = this.#owned(id, token);
    Object.assign(job, { state: 'delayed', lockToken: undefined, delayedUntil: clock.now + pauseMs });
  }

  moveToWait(id: string, token: string): void {
    this.#wait(this.#owned(id, token), 'front');
  }

  /** The job has ended; it is removed. */
  complete(id: string, token: string): void {
    const job = this.#owned(id, token);
    noteJobRemoved(this.#world, job);
    this.jobs.delete(id);
  }

  /** Returns whether the job has failed for good. */
  fail(id: string, token: string, reason: string, isRecoverable: boolean): boolean {
    const job = this.#owned(id, token);
    noteJobFailed(this.#world, job, reason);
    job.attemptsMade += 1;
    job.failedReason = reason;
    if (isRecoverable && job.attemptsMade < this.attempts) {
      const { commandTimeoutMs } = this.#world.configuration.times;
      Object.assign(job, { state: 'delayed', lockToken: undefined });
      job.delayedUntil = clock.now + commandTimeoutMs * 2 ** job.attemptsMade;
      return false;
    }
    Object.assign(job, { state: 'failed', lockToken: undefined });
    return true;
  }

  /** A locked job cannot be removed. */
  remove(id: string): void {
    const job = this.jobs.get(id);
    if (job === undefined) return;
    if (job.state === 'active') throw new Error(`Job ${id} could not be removed because it is locked`);
    noteJobRemoved(this.#world, job);
    this.jobs.delete(id);
  }

  #owned(id: string, token: string): StoredJob {
    const job = this.jobs.get(id);
    if (!isLocked(job, token)) throw new Error(`Missing lock for job ${id}`);
    return job;
  }

  #wait(job: StoredJob, place: 'front' | 'back'): void {
    Object.assign(job, { state: 'waiting', lockToken: undefined });
    if (place === 'front') this.#waiting.unshift(job.id);
    else this.#waiting.push(job.id);
  }
}

function isLocked(job: StoredJob | undefined, token: string): job is StoredJob {
  return job?.state === 'active' && job.lockToken === token;
}

/** The names that the notes of a job hold: `src/queues/bullmq/job-notes.ts`. */
function handledIn(progress: unknown): readonly string[] {
  const { handled } = readNotes({ progress: Object(progress) });
  return handled ?? [];
}
