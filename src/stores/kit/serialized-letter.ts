import * as z from 'zod/mini';
import type { DeadLetter } from '../../receiver/dead-letters/dead-letters.ts';
import { parseWithSchema } from '../../receiver/values/parse-with-schema.ts';

const storedLetter = z.object({
  id: z.string(),
  type: z.optional(z.string()),
  reason: z.string(),
  message: z.string(),
  headers: z.record(z.string(), z.array(z.string())),
  receivedAt: z.number(),
  parkedAt: z.number(),
  // Versions before 0.3.0 leave it out if they store the letter again.
  lastTriedAt: z.optional(z.number()),
  attempts: z.number(),
  handled: z.array(z.string()),
  runningUntil: z.optional(z.number()),
  rawBody: z.base64('must be base64'),
});

/** Serializes a letter as JSON, with its body in base64, which keeps any bytes. */
export function serializeLetter(letter: DeadLetter, indentation?: number): string {
  return JSON.stringify(
    { ...letter, rawBody: Buffer.from(letter.rawBody).toString('base64') },
    undefined,
    indentation,
  );
}

/**
 * The most brackets and commas in a letter. A real letter has them in its headers, of which Node.js accepts
 * 16 KB. A planted letter of 63 MB blocked the process for 12 seconds.
 */
const MOST_PARTS = 100_000;

/** Parses the text of {@link serializeLetter}. Throws for any other text. */
export function parseLetter(text: string): DeadLetter {
  if (hasMoreParts(text, MOST_PARTS)) throw new Error(`it has more than ${MOST_PARTS} brackets and commas`);
  const letter = parseWithSchema(storedLetter, JSON.parse(text), 'letter');
  return { ...letter, rawBody: Buffer.from(letter.rawBody, 'base64') };
}

function hasMoreParts(text: string, most: number): boolean {
  const part = /[[{,]/g;
  for (let count = 0; count <= most; count += 1) if (!part.test(text)) return false;
  return true;
}
