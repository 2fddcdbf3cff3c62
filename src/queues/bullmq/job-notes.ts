import type { Job } from 'bullmq';
import * as z from 'zod';
import { LateStatementError } from './late-statement-error.ts';

/** The facts by which a job is suspected of killing its workers. */
export interface Suspicion {
  /** The number of stalls that BullMQ had counted when this note was written. */
  readonly stalls: number;
  /** The most suspects that may run side by side, including this one. */
  readonly limit: number;
  /** The number of times that its worker died while it ran alone. */
  readonly aloneDeaths: number;
  /** The number of suspects that run side by side, including this one; absent while it does not run. */
  readonly group?: number | undefined;
}

/**
 * The notes that workers keep in a job beside its data. They are the job's `progress`: BullMQ reads it with
 * the job, never changes it, and deletes it with the job. Workers of earlier releases ignore it, and writing
 * the notes does not rewrite the body of the event.
 */
export interface JobNotes {
  /** The time when a worker first lacked a handler of the job, in milliseconds since the epoch. */
  readonly handlerMissingSince?: number | undefined;
  /** The time since which each run has found the key of a handler busy, in milliseconds since the epoch. */
  readonly keyBusySince?: number | undefined;
  /** The number of stalls when a run last ended without killing its worker. */
  readonly forgivenStalls?: number | undefined;
  readonly suspicion?: Suspicion | undefined;
  /** Names of the handlers that had finished while others of the event were still running. */
  readonly handled?: readonly string[] | undefined;
}

const count = z.number().int().min(0);

const suspicion: z.ZodType<Suspicion> = z.object({
  stalls: count,
  limit: count.min(1),
  aloneDeaths: count,
  group: count.min(1).optional(),
});

// A foreign value counts as an absent note.
const readableNotes: z.ZodType<JobNotes> = z
  .object({
    handlerMissingSince: count.optional().catch(undefined),
    keyBusySince: count.optional().catch(undefined),
    forgivenStalls: count.optional().catch(undefined),
    suspicion: suspicion.optional().catch(undefined),
    handled: z.array(z.string()).optional().catch(undefined),
  })
  .catch({});

const NO_NOTES: JobNotes = {};

/** Reads the notes of a job. Most jobs have none: their progress is a number. */
export function readNotes({ progress }: Pick<Job, 'progress'>): JobNotes {
  return typeof progress === 'object' ? readableNotes.parse(progress) : NO_NOTES;
}

/** The notes of a running job. They are written whenever a handler has finished before others. */
export class RunNotes {
  readonly #write: (notes: JobNotes) => Promise<unknown>;
  #notes: JobNotes;
  #written: Promise<unknown> = Promise.resolve();
  #isEnded = false;

  /** `write` must not reject. */
  constructor(notes: JobNotes, write: (notes: JobNotes) => Promise<unknown>) {
    this.#notes = notes;
    this.#write = write;
  }

  readonly noteHandled = (handled: readonly string[]): void => {
    // An aborted handler may finish later than its run.
    if (this.#isEnded) return;
    const notes = { ...this.#notes, handled };
    this.#notes = notes;
    this.#written = this.#written.then(() => this.#write(notes));
  };

  /** Resolves with the notes once they are written. */
  async end(): Promise<JobNotes> {
    this.#isEnded = true;
    await this.#written;
    return this.#notes;
  }
}

/**
 * Writes the notes of a job while its lock is held; resolves with false if another worker may have the job.
 * The lock is renewed first, so that it outlasts the writing. Otherwise a worker that was frozen could
 * overwrite the notes of the worker that took its job.
 */
export async function writeNotes(job: Job, token: string, lockMs: number, notes: JobNotes): Promise<boolean> {
  try {
    if ((await job.extendLock(token, lockMs)) !== 1) return false;
    await job.updateProgress(notes);
    return true;
  } catch (error) {
    if (error instanceof LateStatementError) return false;
    throw error;
  }
}
