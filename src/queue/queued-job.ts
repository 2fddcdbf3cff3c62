import { z } from 'zod';
import { JobError } from '../errors.ts';
import { messageOf } from '../foreign-values.ts';
import { type HeaderValues, withoutCredentials } from '../request/headers.ts';

/** The version that this release writes; it reads all up to it. */
const VERSION = 1;

/**
 * What a queue keeps of an event: an authentic body, and what has become of it so far. Times are in
 * milliseconds since the epoch.
 *
 * It holds payment data: who can read the queue can read it. `JSON.stringify` gives it in the form of
 * {@link StoredJob}, and `receiver.dispatch` takes either.
 */
export interface QueuedJob {
  /** The event's id. */
  readonly id: string;
  /** The event's type. */
  readonly type: string;
  /** The body as it was signed. */
  readonly rawBody: Uint8Array;
  /** Without `authorization`, `proxy-authorization` and `cookie`. */
  readonly headers: { readonly [name: string]: readonly string[] };
  /** When the delivery had arrived. */
  readonly receivedAt: number;
  /** When the job was made. */
  readonly queuedAt: number;
  /** Names of the handlers that have finished: those that ran before the answer. */
  readonly handled: readonly string[];
  /** Names of the handlers that are to run; a worker that lacks one of them leaves the job to another. */
  readonly handlers: readonly string[];
  /** True if the event has a letter, which goes once a worker has handled it. */
  readonly isParked: boolean;
  /** What a middleware of `receiver.use` sends along to the worker; absent if that is nothing. */
  readonly traceContext?: { readonly [name: string]: string } | undefined;
  /** The job as JSON holds it. */
  readonly toJSON: () => StoredJob;
}

/** A {@link QueuedJob} as JSON: its body is in base64, which keeps any bytes. */
export interface StoredJob extends Omit<QueuedJob, 'rawBody' | 'toJSON'> {
  /** The version of this form, from 1. */
  readonly version: number;
  /** The body as it was signed, in base64. */
  readonly rawBody: string;
}

/** Creates a job. */
export function createJob({
  headers,
  ...content
}: Omit<QueuedJob, 'headers' | 'toJSON'> & { readonly headers: HeaderValues }): QueuedJob {
  const job = { ...content, headers: withoutCredentials(headers) };
  const toJSON = (): StoredJob => ({
    version: VERSION,
    ...job,
    rawBody: Buffer.from(job.rawBody).toString('base64'),
  });
  return { ...job, toJSON };
}

/** What a worker reads of a job. The body alone says which event it is. */
export interface ReadJob {
  readonly rawBody: Uint8Array;
  readonly headers: { readonly [name: string]: readonly string[] };
  readonly receivedAt: number;
  readonly handled: readonly string[];
  readonly handlers: readonly string[];
  readonly isParked: boolean;
  readonly traceContext: { readonly [name: string]: string };
}

const bytes = z.union([
  z.base64().transform((text): Uint8Array => Buffer.from(text, 'base64')),
  z.custom<Uint8Array>((value) => value instanceof Uint8Array, 'must be bytes or base64'),
]);

const readableJob: z.ZodType<ReadJob> = z.object({
  version: z.number().max(VERSION, `is newer than ${VERSION}, the newest that this worker reads`).optional(),
  rawBody: bytes,
  headers: z.record(z.string(), z.array(z.string())),
  receivedAt: z.number(),
  handled: z.array(z.string()),
  handlers: z.array(z.string()).default([]),
  isParked: z.boolean().default(false),
  // What is observed must not cost an event its handlers.
  traceContext: z.record(z.string(), z.string()).catch({}),
});

/** Reads a job, in either form. Throws {@link JobError} for anything else, and for one of a newer version. */
export function readJob(value: unknown): ReadJob {
  try {
    return readableJob.parse(value);
  } catch (cause) {
    const problems =
      cause instanceof z.ZodError
        ? cause.issues.map(({ path, message }) => `${path.join('.') || 'job'}: ${message}`).join('; ')
        : messageOf(cause);
    throw new JobError('job_unreadable', `the job is none that this worker can read: ${problems}`, { cause });
  }
}
