import type { QueuedJob } from '../../receiver/queue/queued-job.ts';
import { propertyOf } from '../../receiver/values/foreign-values.ts';

/** NUL and lone surrogates (halves of characters), as JSON spells them. */
const REFUSED = /\\u(0000|d[89a-f][0-9a-f]{2})/i;

/**
 * Returns a job as JSON that PostgreSQL accepts: without NUL and without halves of characters. The body is
 * not searched, because base64 has neither.
 */
export function toPostgresJson(job: QueuedJob): unknown {
  const stored = job.toJSON();
  if (!REFUSED.test(JSON.stringify({ ...stored, rawBody: '' }))) return stored;
  return { base64: Buffer.from(JSON.stringify(stored)).toString('base64') };
}

/** Reads a job in either form of {@link toPostgresJson}. */
export function readPostgresJson(data: unknown): unknown {
  const base64 = propertyOf(data, 'base64');
  if (typeof base64 !== 'string') return data;
  try {
    return JSON.parse(Buffer.from(base64, 'base64').toString());
  } catch {
    return data;
  }
}

/** Returns a text that PostgreSQL accepts. */
export function toPostgresText(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\uFFFD');
}
