import * as z from 'zod';

/** A list up to this length is checked whole, so that all its errors can be reported. */
const SHORT_LIST = 10;

/**
 * A list whose check ends at its first wrong entry. An array of zod checks all entries and keeps each issue,
 * so a hostile answer of many wrong entries could exhaust the time and the memory of the process.
 */
export function listOf<T>(entry: z.ZodType<T>): z.ZodType<readonly T[]> {
  return z.preprocess((value) => untilFirstWrong(entry, value), z.array(entry));
}

/** Cuts a list behind its first wrong entry, so that the issue names the right place. */
function untilFirstWrong(entry: z.ZodType, value: unknown): unknown {
  if (!Array.isArray(value) || value.length <= SHORT_LIST) return value;
  const index = value.findIndex((each) => !entry.safeParse(each).success);
  return index < 0 ? value : value.slice(0, index + 1);
}
