import type { Job } from 'bullmq';
import * as z from 'zod';

/** Why a job may be what killed its workers. */
export interface Suspicion {
  /** The stalls that BullMQ had counted when this was written. */
  readonly stalls: number;
  /** The most suspects that may run side by side, this one included. */
  readonly limit: number;
  /** The number of times that its worker died while it ran alone. */
  readonly aloneDeaths: number;
  /** The suspects that run side by side with it, itself included; absent while it does not run. */
  readonly group?: number | undefined;
}

/**
 * The notes that workers keep in a job besides its data. They are BullMQ's `progress`: BullMQ hands it out
 * with the job, leaves it alone, and deletes it with the job; workers of earlier releases do not read it; and
 * writing it does not write the body of the event again.
 */
export interface JobNotes {
  /** When a worker first lacked a handler of the job, in milliseconds since the epoch. */
  readonly handlerMissingSince?: number | undefined;
  /** Stalls after which a run has ended without killing its worker. */
  readonly forgivenStalls?: number | undefined;
  readonly suspicion?: Suspicion | undefined;
}

const count = z.number().int().min(0);

const suspicion: z.ZodType<Suspicion> = z.object({
  stalls: count,
  limit: count.min(1),
  aloneDeaths: count,
  group: count.min(1).optional(),
});

// A value that somebody else has written there counts as none.
const readableNotes: z.ZodType<JobNotes> = z
  .object({
    handlerMissingSince: count.optional().catch(undefined),
    forgivenStalls: count.optional().catch(undefined),
    suspicion: suspicion.optional().catch(undefined),
  })
  .catch({});

const NO_NOTES: JobNotes = {};

/** Reads the notes of a job. Most jobs have none: their progress is a number. */
export function readNotes({ progress }: Pick<Job, 'progress'>): JobNotes {
  return typeof progress === 'object' ? readableNotes.parse(progress) : NO_NOTES;
}

/**
 * Writes the notes of a job while its lock is held; resolves with false if another worker may have the job.
 * The lock is renewed first: it then outlasts the writing, so that a worker that was frozen does not write
 * over the notes of the one that took its job.
 */
export async function writeNotes(job: Job, token: string, lockMs: number, notes: JobNotes): Promise<boolean> {
  if ((await job.extendLock(token, lockMs)) !== 1) return false;
  await job.updateProgress(notes);
  return true;
}
