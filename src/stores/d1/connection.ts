import { messageOf, propertyOf } from '../../receiver/values/foreign-values.ts';
import type { ServerClock } from '../kit/server-clock.ts';
import type { SqlStatement } from '../sqlite/statement.ts';
import { NOW } from '../sqlite/tables.ts';
import { type D1Binding, runBatch } from './client.ts';

const LATE = 'this operation of posthorn came too late';

/** Returns the time of D1. */
const READ_TIME: SqlStatement = { sql: `select ${NOW} as now`, values: [] };

/**
 * Fails if the time of D1 is past `notAfter`, and returns it otherwise. Only a statement that fails takes its
 * whole batch back. SQLite quotes a path that is not one in its error.
 */
function failIfLate(notAfter: number): SqlStatement {
  return {
    sql: `select ${NOW} as now, json_extract('{}', iif(${NOW} <= ?, '$', '${LATE}'))`,
    values: [notAfter],
  };
}

/**
 * Runs statements in one transaction that does nothing if it arrives after `endsAt`, a time of our monotonic
 * clock; resolves with the rows of each. D1 compares by its own clock, because that of a Worker stands still
 * while no answer comes, and those of two Workers may differ.
 */
export async function runInTime(
  binding: D1Binding,
  clock: ServerClock,
  endsAt: number,
  statements: readonly SqlStatement[],
): Promise<readonly (readonly unknown[])[]> {
  try {
    return await runOnce(binding, clock, endsAt, statements);
  } catch (error) {
    if (!isLate(error)) throw error;
  }
  // D1 refuses a batch as late, although it is not, if the clocks disagree.
  const [[answer] = []] = await runBatch(binding, [READ_TIME]);
  setTime(clock, answer);
  try {
    return await runOnce(binding, clock, endsAt, statements);
  } catch (cause) {
    if (!isLate(cause)) throw cause;
    throw new Error('the operation reached D1 too late, so it did nothing', { cause });
  }
}

async function runOnce(
  binding: D1Binding,
  clock: ServerClock,
  endsAt: number,
  statements: readonly SqlStatement[],
): Promise<readonly (readonly unknown[])[]> {
  const [[answer] = [], ...rows] = await runBatch(binding, [failIfLate(clock.latest(endsAt)), ...statements]);
  setTime(clock, answer);
  return rows;
}

function setTime(clock: ServerClock, row: unknown): void {
  clock.set(Number(propertyOf(row, 'now')));
}

function isLate(error: unknown): boolean {
  return messageOf(error).includes(LATE);
}
