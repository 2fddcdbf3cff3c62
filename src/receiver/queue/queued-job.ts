import { types } from 'node:util';
import * as z from 'zod/mini';
import { parseWithSchema } from '../checks/parse-with-schema.ts';
import { JobError } from '../errors.ts';
import type { StoredSender } from '../provider/event-identity.ts';
import { notSealed, senderMembers } from '../provider/sender-schema.ts';
import { type HeaderValues, withoutCredentials } from '../request/headers.ts';
import { messageOf } from '../values/foreign-values.ts';

/** The version that this release writes. It reads all earlier versions too. */
const VERSION = 1;

/**
 * An event in a queue: its authentic body, and the state of its handling. Times are in milliseconds since the
 * epoch.
 *
 * It holds payment data, which is open to all readers of the queue. `JSON.stringify` gives it in the form of
 * {@link StoredJob}, and `receiver.dispatch` takes either.
 */
export interface QueuedJob extends StoredSender {
  /** The event's key: its id, unless the receiver has a `provider`. */
  readonly id: string;
  /** The event's type. */
  readonly type: string;
  /** The body as it was signed. */
  readonly rawBody: Uint8Array;
  /** They lack `authorization`, `proxy-authorization` and `cookie`. */
  readonly headers: { readonly [name: string]: readonly string[] };
  /** When the delivery had arrived. */
  readonly receivedAt: number;
  /** When the job was made. */
  readonly queuedAt: number;
  /** Names of the handlers that succeeded before the answer. */
  readonly handled: readonly string[];
  /**
   * Names of the handlers that are to run; a worker that lacks one of them leaves the job to another worker.
   */
  readonly handlers: readonly string[];
  /** True if the event may have a dead letter, which is removed once a worker has handled the event. */
  readonly isParked: boolean;
  /** Texts that a middleware of `receiver.use` sends along to the worker; absent if there are none. */
  readonly traceContext?: { readonly [name: string]: string } | undefined;
  /** Returns the job in the form that is stored. */
  readonly toJSON: () => StoredJob;
}

/** A {@link QueuedJob} as JSON: its body is in base64, which keeps any bytes. */
export interface StoredJob extends Omit<QueuedJob, 'rawBody' | 'toJSON'> {
  /** The version of this form, from 1. */
  readonly version: number;
  /** The body as it was signed, in base64. */
  readonly rawBody: string;
}

/** Creates a job without the headers that hold credentials. */
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

/** The parts of a job that a worker reads. The body alone says which event it is. */
export interface ReadJob extends StoredSender {
  readonly rawBody: Uint8Array;
  readonly headers: { readonly [name: string]: readonly string[] };
  readonly receivedAt: number;
  readonly handled: readonly string[];
  readonly handlers: readonly string[];
  readonly isParked: boolean;
  readonly traceContext: { readonly [name: string]: string };
}

let jobSchema: z.ZodMiniType<ReadJob> | undefined;

function createJobSchema(): z.ZodMiniType<ReadJob> {
  const isNewer = `is newer than ${VERSION}, the newest that this worker reads`;
  const base64 = z.pipe(
    z.base64(),
    z.transform((text): Uint8Array => Buffer.from(text, 'base64')),
  );
  const bytes = z.custom<Uint8Array>(types.isUint8Array);
  const texts = z.record(z.string(), z.string());
  return z.object({
    version: z.optional(z.number().check(z.maximum(VERSION, isNewer))),
    ...senderMembers,
    sealed: notSealed('job'),
    rawBody: z.union([base64, bytes], 'must be bytes or base64'),
    headers: z.record(z.string(), z.array(z.string())),
    receivedAt: z.number(),
    handled: z.array(z.string()),
    handlers: z._default(z.array(z.string()), []),
    isParked: z._default(z.boolean(), false),
    // A trace context serves only to observe, so a damaged one must not keep an event from its handlers.
    // `z.catch` would make each bundle 10 kB larger.
    traceContext: z.pipe(
      z.optional(z.unknown()),
      z.transform((value) => (z.validate(texts, value) ? value : {})),
    ),
  });
}

/** Reads a job, in either form. Throws {@link JobError} for anything else, and for one of a newer version. */
export function readJob(value: unknown): ReadJob {
  // Most programs never read a job, and creating the schema takes 3 milliseconds, a fifth of the time that
  // posthorn takes to load (`bench/startup`).
  jobSchema ??= createJobSchema();
  try {
    return parseWithSchema(jobSchema, value, 'job');
  } catch (cause) {
    const message = `this worker cannot read the job: ${messageOf(cause)}`;
    throw new JobError('job_unreadable', message, { cause });
  }
}
