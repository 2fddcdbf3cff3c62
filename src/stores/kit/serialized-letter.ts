import { types } from 'node:util';
import * as z from 'zod/mini';
import { parseWithSchema } from '../../receiver/checks/parse-with-schema.ts';
import type { DeadLetter, DeadLetterSummary } from '../../receiver/dead-letters/dead-letters.ts';
import { newerForm } from '../../receiver/dead-letters/newer-form.ts';
import { DeadLetterError } from '../../receiver/errors.ts';
import { senderMembers } from '../../receiver/provider/sender-schema.ts';
import { messageOf, propertyOf, show } from '../../receiver/values/foreign-values.ts';

const members = {
  id: z.string(),
  // Absent for the default provider: its dead letters have the form of versions that knew no other.
  ...senderMembers,
  type: z.optional(z.string()),
  reason: z.string(),
  message: z.string(),
  headers: z.record(z.string(), z.array(z.string())),
  receivedAt: z.number(),
  parkedAt: z.number(),
  // Versions before 0.3.0 leave it out when they store a dead letter again.
  lastTriedAt: z.optional(z.number()),
  attempts: z.number(),
  handled: z.array(z.string()),
  runningUntil: z.optional(z.number()),
};

const storedLetter = z.object({ ...members, rawBody: z.base64('must be base64') });

const givenLetter = z.object({
  ...members,
  rawBody: z.custom<Uint8Array>((value) => types.isUint8Array(value), 'must be a Uint8Array'),
});

const storedHead = z.object(members);

/**
 * Begins the body of a dead letter, which is the last member since 0.3.0. In front of it is the head. JSON
 * escapes quotes in texts, and the values of a header are a list, so this cannot come earlier.
 */
export const BODY_MARK = ',"rawBody":"';

/**
 * The most characters in which a server looks for the body. Most heads are shorter by far; of a dead letter
 * with a longer one the whole text is read.
 */
export const LONGEST_HEAD = 8_192;

/**
 * The most opening brackets and commas in a dead letter. A real one has them in its headers, of which Node.js
 * accepts 16 KB. A forged dead letter of 63 MB blocked the process for 12 seconds.
 */
const MOST_PARTS = 100_000;

/** Only a later version can read the dead letter, which is not damaged. The message says why. */
export class NewerLetterError extends Error {}

/**
 * Serializes a dead letter as JSON, with its body in base64, which keeps any bytes. If {@link parseLetter}
 * could not read it, throws DeadLetterError that names each wrong member.
 */
export function serializeLetter(letter: DeadLetter, indentation?: number): string {
  try {
    checkForm(letter);
    const { rawBody, ...rest } = parseWithSchema(givenLetter, letter, 'letter');
    const stored = { ...rest, rawBody: Buffer.from(rawBody).toString('base64') };
    const text = JSON.stringify(stored, undefined, indentation);
    checkParts(text);
    return text;
  } catch (cause) {
    const message = `the dead letter ${show(propertyOf(letter, 'id'))} is not one: ${messageOf(cause)}`;
    throw new DeadLetterError('dead_letter_invalid', message, { cause });
  }
}

/**
 * Parses a text of {@link serializeLetter}. Throws {@link NewerLetterError} for that of a later version, and
 * another error for any other text.
 */
export function parseLetter(text: string): DeadLetter {
  const letter = parse(text, storedLetter);
  return { ...letter, rawBody: Buffer.from(letter.rawBody, 'base64') };
}

/**
 * Parses the head of a text of {@link serializeLetter}. Returns undefined if only the whole text can tell
 * more: versions before 0.3.0 have members after the body.
 */
export function parseHead(head: string): DeadLetterSummary | undefined {
  try {
    const { headers, ...summary } = parse(`${head}}`, storedHead);
    return summary;
  } catch {
    return undefined;
  }
}

function parse<Form>(text: string, form: z.ZodMiniType<Form>): Form {
  checkParts(text);
  const value: unknown = JSON.parse(text);
  checkForm(value);
  return parseWithSchema(form, value, 'letter');
}

function checkForm(letter: unknown): void {
  const reason = newerForm(letter);
  if (reason !== undefined) throw new NewerLetterError(reason);
}

function checkParts(text: string): void {
  const part = /[[{,]/g;
  for (let count = 0; count <= MOST_PARTS; count += 1) if (!part.test(text)) return;
  throw new Error(`it has more than ${MOST_PARTS} brackets and commas`);
}
