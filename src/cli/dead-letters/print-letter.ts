import type { DeadLetter } from '../../dead-letters/dead-letters.ts';
import { escapeControls } from '../../outcomes/escape.ts';
import { colours } from '../output.ts';

/** A letter without what it holds. */
export function summaryOf(letter: DeadLetter): object {
  const { id, type, reason, message, receivedAt, parkedAt, attempts, handled, runningUntil } = letter;
  return {
    id,
    type,
    reason,
    message,
    receivedAt: new Date(receivedAt).toISOString(),
    parkedAt: new Date(parkedAt).toISOString(),
    attempts,
    handled,
    ...(runningUntil !== undefined && { runningUntil: new Date(runningUntil).toISOString() }),
  };
}

/** A letter on one line. */
export function lineOfLetter({ id, type = '?', reason, message, parkedAt, attempts }: DeadLetter): string {
  const when = colours.minor(new Date(parkedAt).toISOString());
  const what = `${colours.strong(escapeControls(type))} ${escapeControls(id)}`;
  return `${when} ${what} after ${attempts} ${attempts === 1 ? 'attempt' : 'attempts'}, ${escapeControls(`${reason}: ${message}`)}`;
}

/** Counts as text, without those of nothing except the first: `3 parked, 1 still running`. */
export function countsOf(first: readonly [number, string], ...others: (readonly [number, string])[]): string {
  return [first, ...others.filter(([count]) => count > 0)]
    .map(([count, what]) => `${count} ${what}`)
    .join(', ');
}
