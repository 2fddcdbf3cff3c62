import type { DeadLetter } from '../../receiver/dead-letters/dead-letters.ts';
import type { Output } from '../output.ts';
import { colours, line, type TerminalText } from '../terminal-text.ts';
import { type LetterRow, rowOf, tableOf } from './letter-table.ts';
import { letterTime } from './letter-time.ts';

/** The summary of a letter, without its body and its headers. */
export function summaryOf(letter: DeadLetter): object {
  const { id, type, reason, message, receivedAt, parkedAt, lastTriedAt, attempts, handled, runningUntil } =
    letter;
  return {
    id,
    type,
    reason,
    message,
    receivedAt: letterTime(receivedAt),
    parkedAt: letterTime(parkedAt),
    ...(lastTriedAt !== undefined && { lastTriedAt: letterTime(lastTriedAt) }),
    attempts,
    handled,
    ...(runningUntil !== undefined && { runningUntil: letterTime(runningUntil) }),
  };
}

/** A letter on one line. */
function lineOfLetter({ id, type = '?', reason, message, parkedAt, attempts }: DeadLetter): TerminalText {
  const when = colours.minor(letterTime(parkedAt));
  const count = `${attempts} ${attempts === 1 ? 'attempt' : 'attempts'}`;
  return line`${when} ${colours.strong(type)} ${id} after ${count}, ${reason}: ${message}`;
}

/** Prints letters: one line each as they come, or on a terminal one table at the end. */
export class LetterPrinter {
  readonly #output: Output;
  readonly #rows: LetterRow[] = [];

  constructor(output: Output) {
    this.#output = output;
  }

  add(letter: DeadLetter): void {
    if (this.#output.isTerminal) this.#rows.push(rowOf(letter));
    else this.#output.print({ kind: 'letter', ...summaryOf(letter) }, () => lineOfLetter(letter));
  }

  end(): void {
    if (this.#rows.length === 0) return;
    this.#output.print({}, () => tableOf(this.#rows, process.stdout.columns));
  }
}

/** Counts as text, for example `3 parked, 1 still running`. Counts of zero are left out, except the first. */
export function countsOf(first: readonly [number, string], ...others: (readonly [number, string])[]): string {
  return [first, ...others.filter(([count]) => count > 0)]
    .map(([count, what]) => `${count} ${what}`)
    .join(', ');
}
