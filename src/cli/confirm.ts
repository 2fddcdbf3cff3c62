import { createInterface } from 'node:readline';
import { writeText } from './output.ts';

/** Asks on the terminal; true only for `y` or `yes`. The question goes to stderr, apart from the results. */
export async function confirm(question: string): Promise<boolean> {
  writeText('stderr', `${question} [y/N] `);
  for await (const line of createInterface({ input: process.stdin })) return /^\s*y(es)?\s*$/i.test(line);
  return false;
}
