import { shorten } from '../values/foreign-values.ts';
import { escapeControls } from './escape.ts';

const MAX_LENGTH = 500;

/** Escapes a text, and shortens it before and after: escaping makes it up to nine times as long. */
export function oneLine(text: string): string {
  // Nearly all ids and types are short and printable, and every line of a log has some.
  if (text.length <= MAX_LENGTH && /^[ -~]*$/.test(text)) return text;
  return shorten(escapeControls(shorten(text, MAX_LENGTH)), MAX_LENGTH);
}
