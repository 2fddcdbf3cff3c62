import { z } from 'zod';
import type { DeadLetter } from './dead-letters.ts';

const storedLetter = z.object({
  id: z.string(),
  type: z.string().optional(),
  reason: z.string(),
  message: z.string(),
  headers: z.record(z.string(), z.array(z.string())),
  receivedAt: z.number(),
  parkedAt: z.number(),
  attempts: z.number(),
  handled: z.array(z.string()),
  runningUntil: z.number().optional(),
  rawBody: z.base64(),
});

/** Serializes a letter as JSON, with its body in base64, which keeps any bytes. */
export function serializeLetter(letter: DeadLetter, indentation?: number): string {
  return JSON.stringify(
    { ...letter, rawBody: Buffer.from(letter.rawBody).toString('base64') },
    undefined,
    indentation,
  );
}

/** Parses the text of {@link serializeLetter}. Throws for any other text. */
export function parseLetter(text: string): DeadLetter {
  const letter = storedLetter.parse(JSON.parse(text));
  return { ...letter, rawBody: Buffer.from(letter.rawBody, 'base64') };
}
