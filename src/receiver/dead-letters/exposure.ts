import { propertyOf } from '../values/foreign-values.ts';
import type { DeadLetters } from './dead-letters.ts';

/** A symbol that all copies of this package in a process share: two builds may meet. */
const EXPOSURE = Symbol.for('posthorn.deadLettersExposure');

/**
 * Marks dead letters that others may forge. `exposure` says in words which users may, in which place, and how
 * to prevent it.
 */
export function withExposure(deadLetters: DeadLetters, exposure: string | undefined): DeadLetters {
  return exposure === undefined ? deadLetters : Object.assign(deadLetters, { [EXPOSURE]: exposure });
}

/** Returns which users may forge these dead letters, in words; undefined if none are known. */
export function exposureOf(deadLetters: DeadLetters | undefined): string | undefined {
  const exposure = propertyOf(deadLetters, EXPOSURE);
  return typeof exposure === 'string' ? exposure : undefined;
}
