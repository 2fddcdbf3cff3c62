import * as z from 'zod/mini';
import { parseWithSchema } from '../../../receiver/checks/parse-with-schema.ts';
import { type JournalEntry, type JournalRecord, journalOutcomes } from '../../../receiver/journal/journal.ts';

/** A row of a table as JSON, without its body and without what it does not have. */
const storedRecord = z.object({
  id: z.string(),
  key: z.optional(z.string()),
  type: z.optional(z.string()),
  provider: z.string(),
  account: z.optional(z.string()),
  createdAt: z.optional(z.number()),
  firstReceivedAt: z.number(),
  lastReceivedAt: z.number(),
  deliveries: z.number(),
  attempts: z.number(),
  outcome: z.enum(journalOutcomes),
  code: z.optional(z.string()),
  finality: z.number(),
  decidedAt: z.number(),
  handled: z.array(z.string()),
  resource: z.optional(z.string()),
  headers: z.optional(z.record(z.string(), z.array(z.string()))),
});

/** Reads a row. Throws MismatchError for one of another form. */
export function parseRecord(json: string): JournalRecord {
  return parseWithSchema(storedRecord, JSON.parse(json), 'the row');
}

/** Returns the part of a row that readers of a journal get. */
export function toEntry(json: string, rawBody: Uint8Array | undefined): JournalEntry {
  const { finality, decidedAt, ...entry } = parseRecord(json);
  return rawBody === undefined ? entry : { ...entry, rawBody };
}

/**
 * The escapes of JSON. Those of the group spell what databases refuse in a text: NUL, and lone surrogates.
 */
const ESCAPES = /\\(?:u(0000|d[89a-f][0-9a-f]{2})|.)/gi;

/** The JSON of a value with texts that any database takes, names included: what is refused becomes U+FFFD. */
export function storableJson(value: unknown): string {
  const json = JSON.stringify(value);
  // Most have no escape.
  if (!json.includes('\\')) return json;
  return json.replace(ESCAPES, (spelled, refused?: string) => (refused === undefined ? spelled : '\ufffd'));
}

/** A text as {@link storableJson} leaves it. */
export function storableText(text: string): string {
  return text.toWellFormed().replaceAll('\u0000', '\ufffd');
}
