import { exposureOf } from '../dead-letters/exposure.ts';
import type { Warning } from '../outcomes/report.ts';
import type { Settings } from '../settings.ts';

/** Warnings about the options of a receiver, for its first report. */
export function firstWarnings({ deadLetters }: Pick<Settings, 'deadLetters'>): Warning[] {
  if (deadLetters === undefined) return [DEAD_LETTERS_MISSING];
  const exposure = exposureOf(deadLetters);
  return exposure === undefined ? [] : [`dead_letters_exposed: ${exposure}`];
}

const DEAD_LETTERS_MISSING: Warning =
  'dead_letters_missing: without the option deadLetters an event that keeps failing can get the whole endpoint cut off';
