import type { DeadLetter } from '../../receiver/dead-letters/dead-letters.ts';
import type { Output } from '../output.ts';
import { colours, line, type TerminalText } from '../terminal-text.ts';
import { nameOf, senderFields } from './letter-sender.ts';
import { letterTime, tableOf } from './letter-table.ts';

/** The summary of a dead letter, without its body and its headers. */
export function summaryOf(letter: DeadLetter): object {
  const { id, type, reason, message, attempts, handled } = letter;
  const { receivedAt, parkedAt, lastTriedAt, runningUntil } = letter;
  return {
    id,
    ...senderFields(letter),
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

/** A dead letter on one line. */
function lineOfLetter(letter: DeadLetter): TerminalText {
  const { type = '?', reason, message, parkedAt, attempts } = letter;
  const when = colours.minor(letterTime(parkedAt));
  const count = `${attempts} ${attempts === 1 ? 'attempt' : 'attempts'}`;
  return line`${when} ${colours.strong(type)} ${nameOf(letter)} after ${count}, ${reason}: ${message}`;
}

/**
 * Prints dead letters: one line each as they come, or on a terminal one table at the end. Resolves with their
 * number, and the id of the last one.
 */
export async function printLetters(
  letters: AsyncIterable<DeadLetter>,
  output: Output,
): Promise<{ readonly count: number; readonly lastId: string | undefined }> {
  const listed: DeadLetter[] = [];
  let count = 0;
  let lastId: string | undefined;
  for await (const letter of letters) {
    count += 1;
    lastId = letter.id;
    if (output.isTerminal) listed.push(letter);
    else output.print({ kind: 'letter', ...summaryOf(letter) }, () => lineOfLetter(letter));
  }
  if (listed.length > 0) output.print({}, () => tableOf(listed, process.stdout.columns));
  return { count, lastId };
}
