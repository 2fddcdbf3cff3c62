import type { PgQueryResult } from 'bullmq';
import { propertyOf } from '../../../receiver/values/foreign-values.ts';

/** A statement and the values of its parameters. */
export interface TimedStatement {
  readonly text: string;
  readonly values: readonly unknown[];
}

/** The SQL for the time of the server, in milliseconds since the epoch. */
const SERVER_NOW = '(extract(epoch from clock_timestamp()) * 1000)::bigint';

/** A number this large is a time, in milliseconds since the epoch: the counts of BullMQ stay smaller. */
const LEAST_TIME = 2 ** 32;

/**
 * Makes a statement of BullMQ use the clock of the server. BullMQ gives it times of this process, such as the
 * end of a lock, and other processes compare them with their own. If the clock of one process is ahead, no
 * worker looks for the jobs of dead workers until the other clocks have caught up.
 */
export function byServerClock(text: string, values: readonly unknown[]): TimedStatement {
  const now = Date.now();
  const timed = text.replaceAll(/\$(\d+)/g, (parameter, place) =>
    isTime(values[Number(place) - 1]) ? `(${parameter}::bigint + ${SERVER_NOW})` : parameter,
  );
  return { text: withServerNow(timed), values: values.map((value) => (isTime(value) ? value - now : value)) };
}

function isTime(value: unknown): value is number {
  return typeof value === 'number' && value >= LEAST_TIME;
}

/** Adds the column `server_now` to a result with `next_delay`, the time until which a worker sleeps. */
function withServerNow(text: string): string {
  if (!/\bnext_delay\b/.test(text)) return text;
  return `select *, ${SERVER_NOW}::text as server_now from (\n${text.replace(/;\s*$/, '')}\n) as answer`;
}

/** Returns a result with its `next_delay`, if it has one, by the clock of this process. */
export function byOwnClock({ rows, rowCount }: PgQueryResult): PgQueryResult {
  const [row] = rows;
  const [due, serverNow] = [propertyOf(row, 'next_delay'), propertyOf(row, 'server_now')];
  if (typeof due !== 'string' || typeof serverNow !== 'string') return { rows, rowCount };
  const ownDue = String(Number(due) - Number(serverNow) + Date.now());
  return { rows: [{ ...row, next_delay: ownDue }], rowCount };
}

/** Returns true for the statement by which a worker checks for the jobs of dead workers. */
export function isStalledCheck(text: string): boolean {
  return text.includes('move_stalled_jobs_to_wait(');
}

/**
 * Forgets the time of the last check for stalled jobs of the queue `$1`, if that time is in the future: see
 * {@link byServerClock}.
 */
export const FORGET_FUTURE_CHECK: string = `delete from meta
where queue = $1 and field = 'stalled-check' and value::bigint > ${SERVER_NOW}`;
