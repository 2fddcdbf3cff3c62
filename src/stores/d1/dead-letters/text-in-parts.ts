import { propertyOf } from '../../../receiver/values/foreign-values.ts';
import type { StoredText } from '../../kit/ordered-list.ts';

/** A character takes three bytes at most, and the rest of a row is short. */
const MOST_CHARACTERS = 600_000;

/** Splits a text that is too long for a row; returns none if it is not. */
export function splitText(text: string): readonly string[] {
  if (text.length <= MOST_CHARACTERS) return [];
  const parts: string[] = [];
  for (let begin = 0; begin < text.length; ) {
    const longest = text.slice(begin, begin + MOST_CHARACTERS);
    // Half of a surrogate pair would be stored as another character.
    const part = /[\uD800-\uDBFF]$/.test(longest) ? longest.slice(0, -1) : longest;
    parts.push(part);
    begin += part.length;
  }
  return parts;
}

/** Joins the parts of a dead letter, and says what is wrong with them. */
export function joinParts(parts: readonly unknown[]): StoredText {
  const text = parts.map((part) => propertyOf(part, 'text')).join('');
  return { text, damage: damageOf(parts, text) };
}

/** A dead letter of an earlier posthorn has no sizes. If its end is missing, it is not JSON. */
function damageOf(parts: readonly unknown[], text: string): string | undefined {
  if (parts.length === 0) return 'none of its parts are there';
  const [count, ...otherCounts] = distinct(parts, 'part_count');
  const [bytes, ...otherBytes] = distinct(parts, 'letter_bytes');
  if (otherCounts.length + otherBytes.length > 0) return 'its parts are of two writings';
  if (typeof count === 'number' && count !== parts.length)
    return `only ${parts.length} of its ${count} parts are there`;
  if (!parts.every((part, index) => propertyOf(part, 'part') === index)) return 'a part of it is missing';
  const found = Buffer.byteLength(text);
  return typeof bytes === 'number' && bytes !== found ? `it has ${found} bytes, not ${bytes}` : undefined;
}

function distinct(rows: readonly unknown[], column: string): unknown[] {
  return [...new Set(rows.map((row) => propertyOf(row, column)))];
}
