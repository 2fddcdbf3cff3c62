import { propertyOf } from '../../../receiver/values/foreign-values.ts';
import type { SqlStatement } from '../../sqlite/statement.ts';

/**
 * The texts of letters that are too long for a row of D1, which takes 2,000,000 bytes:
 * https://developers.cloudflare.com/d1/platform/limits/. Their rows among the letters have an empty text.
 */
export const PARTS_TABLE = `create table posthorn_dead_letter_parts (
  scope text not null,
  key text not null,
  part integer not null,
  text text not null,
  primary key (scope, key, part)
) strict, without rowid;
`;

/**
 * Each part says how many parts its letter has, and how many bytes in all of them. An earlier posthorn writes
 * neither, and replaces all parts of a letter: so what a part says is never about another text.
 */
export const SIZES_OF_PARTS = `alter table posthorn_dead_letter_parts add column part_count integer;
alter table posthorn_dead_letter_parts add column letter_bytes integer;
`;

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

/** Removes the parts of a letter. */
export function removeParts(scope: string, key: string): SqlStatement {
  return { sql: 'delete from posthorn_dead_letter_parts where scope = ? and key = ?', values: [scope, key] };
}

/** Stores the parts of a letter; without their sizes if the table has no columns for them. */
export function putParts(
  scope: string,
  key: string,
  parts: readonly string[],
  hasSizes: boolean,
): readonly SqlStatement[] {
  const sizes = [parts.length, Buffer.byteLength(parts.join(''))];
  return parts.map((text, index) => ({
    sql: hasSizes ? PUT_WITH_SIZES : PUT,
    values: [scope, key, index, text, ...(hasSizes ? sizes : [])],
  }));
}

const PUT = 'insert into posthorn_dead_letter_parts (scope, key, part, text) values (?, ?, ?, ?)';
const PUT_WITH_SIZES = `insert into posthorn_dead_letter_parts
(scope, key, part, text, part_count, letter_bytes) values (?, ?, ?, ?, ?, ?)`;

/** Returns the parts of a letter in their order, with their sizes if the table has them. */
export function getParts(scope: string, key: string): SqlStatement {
  return {
    sql: 'select * from posthorn_dead_letter_parts where scope = ? and key = ? order by part',
    values: [scope, key],
  };
}

/** The text of a letter, or what is wrong with it. */
export interface JoinedText {
  readonly text: string;
  /** Undefined if the text is whole, as far as is known. */
  readonly damage: string | undefined;
}

/** Joins the parts of a letter. */
export function joinParts(parts: readonly unknown[]): JoinedText {
  const text = parts.map((part) => propertyOf(part, 'text')).join('');
  return { text, damage: damageOf(parts, text) };
}

/** A letter of an earlier posthorn has no sizes. If its end is missing, it is not JSON. */
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
