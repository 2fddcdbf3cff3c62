import type { Warning } from '../outcomes/report.ts';
import { propertyOf } from '../values/foreign-values.ts';
import type { DeadLetters } from './dead-letters.ts';

/** A symbol that all copies of this package in a process share: the process may load two builds. */
const EXPOSURE = Symbol.for('posthorn.deadLettersExposure');

/**
 * Marks dead letters that others may forge. `exposure` says which users may do so, where, and how to prevent
 * it.
 */
export function withExposure(deadLetters: DeadLetters, exposure: string | undefined): DeadLetters {
  return exposure === undefined ? deadLetters : Object.assign(deadLetters, { [EXPOSURE]: exposure });
}

/** Warns of a receiver without dead letters, and of dead letters that others may forge. */
export function deadLetterWarnings(
  deadLetters: DeadLetters | undefined,
  { cutsOff }: { readonly cutsOff: boolean },
): Warning[] {
  if (deadLetters === undefined) return [cutsOff ? DEAD_LETTERS_MISSING : EVENTS_LOST];
  const exposure = propertyOf(deadLetters, EXPOSURE);
  return typeof exposure === 'string' ? [`dead_letters_exposed: ${exposure}`] : [];
}

const EVENTS_LOST: Warning =
  'dead_letters_missing: without the option deadLetters an event is lost if its last attempt fails';

const DEAD_LETTERS_MISSING: Warning =
  'dead_letters_missing: without the option deadLetters an event that keeps failing can get the whole endpoint cut off';
