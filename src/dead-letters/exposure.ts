import { propertyOf } from '../foreign-values.ts';
import type { DeadLetters } from './dead-letters.ts';

/** A symbol of all copies of this package in a process: two builds may meet. */
const EXPOSURE = Symbol.for('posthorn.deadLettersExposure');

/** Marks dead letters that others may forge. `exposure` says who may, where, and what to do. */
export function withExposure(deadLetters: DeadLetters, exposure: string | undefined): DeadLetters {
  return exposure === undefined ? deadLetters : Object.assign(deadLetters, { [EXPOSURE]: exposure });
}

/** Who may forge these dead letters; undefined if that is not known of anybody. */
export function exposureOf(deadLetters: DeadLetters | undefined): string | undefined {
  const exposure = propertyOf(deadLetters, EXPOSURE);
  return typeof exposure === 'string' ? exposure : undefined;
}
