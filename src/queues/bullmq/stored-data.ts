import type { QueuedJob } from '../../receiver/queue/queued-job.ts';
import { propertyOf } from '../../receiver/values/foreign-values.ts';

/** In JSON text: the character NUL, and halves of characters. */
const REFUSED = /\\u(0000|d[89a-f][0-9a-f]{2})/i;

/**
 * A job in the form of JSON that PostgreSQL accepts: it has no NUL and no halves of characters. Its body is
 * in base64, which has neither, so the longest part is left out of the search.
 */
export function toAcceptedJson(job: QueuedJob): unknown {
  const stored = job.toJSON();
  if (!REFUSED.test(JSON.stringify({ ...stored, rawBody: '' }))) return stored;
  return { base64: Buffer.from(JSON.stringify(stored)).toString('base64') };
}

/** The job of an entry of the queue, in either form. */
export function readAcceptedJson(data: unknown): unknown {
  const base64 = propertyOf(data, 'base64');
  if (typeof base64 !== 'string') return data;
  try {
    return JSON.parse(Buffer.from(base64, 'base64').toString());
  } catch {
    return data;
  }
}

/** A text that PostgreSQL accepts. */
export function toAcceptedText(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\uFFFD');
}
