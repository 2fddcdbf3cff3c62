import { shorten } from '../values/foreign-values.ts';
import { escapeControls } from './escape.ts';

const MAX_LENGTH = 500;

/** Escapes a text, and shortens it before and after: escaping makes it up to eight times as long. */
export function oneLine(text: string): string {
  return shorten(escapeControls(shorten(text, MAX_LENGTH)), MAX_LENGTH);
}
