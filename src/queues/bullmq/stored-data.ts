import { propertyOf } from '../../receiver/values/foreign-values.ts';

/** In JSON text: the character NUL, and halves of characters. */
const REFUSED = /\\u(0000|d[89a-f][0-9a-f]{2})/i;

/** A job in the form of JSON that PostgreSQL accepts: it has no NUL and no halves of characters. */
export function toAcceptedJson(job: unknown): unknown {
  const text = JSON.stringify(job);
  return REFUSED.test(text) ? { base64: Buffer.from(text).toString('base64') } : job;
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
