import type { SqlStatement } from '../sqlite/statement.ts';

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

/** Stores a part of a letter. */
export function putPart(scope: string, key: string, part: number, text: string): SqlStatement {
  return {
    sql: 'insert into posthorn_dead_letter_parts (scope, key, part, text) values (?, ?, ?, ?)',
    values: [scope, key, part, text],
  };
}

/** Returns the parts of a letter in their order. */
export function getParts(scope: string, key: string): SqlStatement {
  return {
    sql: 'select text from posthorn_dead_letter_parts where scope = ? and key = ? order by part',
    values: [scope, key],
  };
}
