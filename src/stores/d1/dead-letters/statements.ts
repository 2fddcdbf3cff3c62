import { messageOf } from '../../../receiver/values/foreign-values.ts';
import type { SqlStatement } from '../../sqlite/statement.ts';
import { NOW } from '../../sqlite/tables.ts';

/** Removes the parts of a dead letter. */
export function removeParts(scope: string, key: string): SqlStatement {
  return { sql: 'delete from posthorn_dead_letter_parts where scope = ? and key = ?', values: [scope, key] };
}

/** Stores the parts of a dead letter; without their sizes if the table has no columns for them. */
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

/** Returns the parts of a dead letter in their order, with their sizes if the table has them. */
export function getParts(scope: string, key: string): SqlStatement {
  return {
    sql: 'select * from posthorn_dead_letter_parts where scope = ? and key = ? order by part',
    values: [scope, key],
  };
}

const LATE = 'this operation of posthorn came too late';

/** Returns the time of D1. */
export const READ_TIME: SqlStatement = { sql: `select ${NOW} as now`, values: [] };

/**
 * Fails if the time of D1 is past `latest`, and returns it otherwise. Only a statement that fails takes its
 * whole batch back. SQLite quotes a path that is not one in its error.
 */
export function failIfLate(latest: number): SqlStatement {
  return {
    sql: `select ${NOW} as now, json_extract('{}', iif(${NOW} <= ?, '$', '${LATE}'))`,
    values: [latest],
  };
}

/** Returns true for the error of {@link failIfLate}. */
export function isLate(error: unknown): boolean {
  return messageOf(error).includes(LATE);
}
