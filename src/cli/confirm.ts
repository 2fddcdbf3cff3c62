import { createInterface } from 'node:readline';
import { usageError } from './failure.ts';
import { writeText } from './output.ts';

/**
 * Throws a usage error without a terminal to ask on. `command` names the command that needs `--yes`, and
 * `counted` what its dry run counts.
 */
export function checkCanAsk(command: string, counted: string): void {
  if (process.stdin.isTTY) return;
  throw usageError(`without a terminal to ask on, ${command} needs --yes; --dry-run counts the ${counted}`);
}

/** Asks on the terminal; true only for `y` or `yes`. The question goes to stderr, apart from the results. */
export async function confirm(question: string): Promise<boolean> {
  writeText('stderr', `${question} [y/N] `);
  for await (const line of createInterface({ input: process.stdin })) return /^\s*y(es)?\s*$/i.test(line);
  return false;
}
