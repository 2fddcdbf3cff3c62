import type { DeadLetterSummary } from '../../receiver/dead-letters/dead-letters.ts';
import { plural } from '../counts.ts';
import type { ListForm } from '../print-list.ts';
import type { Row } from '../table.ts';
import { colours, line, type TerminalText } from '../terminal-text.ts';
import { minuteText, timeText } from '../time-text.ts';
import { nameOf, senderFields, senderOf } from './letter-sender.ts';

/** The summary of a dead letter, without its body and its headers. */
export function summaryOf(letter: DeadLetterSummary): object {
  const { id, type, reason, message, attempts, handled } = letter;
  const { receivedAt, parkedAt, lastTriedAt, runningUntil } = letter;
  return {
    id,
    ...senderFields(letter),
    type,
    reason,
    message,
    receivedAt: timeText(receivedAt),
    parkedAt: timeText(parkedAt),
    ...(lastTriedAt !== undefined && { lastTriedAt: timeText(lastTriedAt) }),
    attempts,
    handled,
    ...(runningUntil !== undefined && { runningUntil: timeText(runningUntil) }),
  };
}

/** A dead letter on one line. */
function lineOfLetter(letter: DeadLetterSummary): TerminalText {
  const { type = '?', reason, message, parkedAt, attempts } = letter;
  const when = colours.minor(timeText(parkedAt));
  return line`${when} ${colours.strong(type)} ${nameOf(letter)} after ${plural(attempts, 'attempt')}, ${reason}: ${message}`;
}

/** A dead letter on one line of JSON. */
export function valueOfLetter(letter: DeadLetterSummary): object {
  return { kind: 'letter', ...summaryOf(letter) };
}

/** The list of dead letters. */
export const letterForm: ListForm<DeadLetterSummary> = {
  idOf: ({ id }) => id,
  toValue: valueOfLetter,
  toLine: lineOfLetter,
  columns: [
    { title: 'PARKED' },
    { title: 'TYPE' },
    { title: 'ID' },
    { title: 'SENDER', isOptional: true },
    { title: 'ATTEMPTS', isNumber: true },
  ],
  lastTitle: 'REASON',
  leastWidth: 20,
  toRow: rowOf,
};

function rowOf(letter: DeadLetterSummary): Row {
  const { id, type = '?', reason, message, parkedAt, attempts } = letter;
  const [parked, sender, why] = [minuteText(parkedAt), senderOf(letter), `${reason}: ${message}`];
  const of = sender === '' ? '' : ` of ${sender}`;
  return {
    cells: [parked, type, id, sender, String(attempts)],
    last: why,
    block: { title: id, lines: [`${type}${of}, attempts: ${attempts}, parked ${parked}`, why] },
  };
}
