import type { PgQueryResult } from 'bullmq';
import { propertyOf } from '../../../receiver/values/foreign-values.ts';

/** A statement and the values of its parameters. */
export interface TimedStatement {
  readonly text: string;
  readonly values: readonly unknown[];
}

/** In SQL: the time of the server in milliseconds since the epoch. */
const SERVER_NOW = '(extract(epoch from clock_timestamp()) * 1000)::bigint';

/** Larger than all that BullMQ counts: such a number is a time, in milliseconds since the epoch. */
const LEAST_TIME = 2 ** 32;

/**
 * Makes a statement of BullMQ go by the clock of the server. BullMQ gives it times of this process: when a
 * lock ends, a delayed job comes, and jobs of dead workers were last looked for. Other processes compare them
 * with theirs, so one clock that is ahead would stop the look of all workers until that time.
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

/** A worker sleeps until the `next_delay` that it reads. */
function withServerNow(text: string): string {
  if (!/\bnext_delay\b/.test(text)) return text;
  return `select *, ${SERVER_NOW}::text as server_now from (\n${text.replace(/;\s*$/, '')}\n) as answer`;
}

/** The answer to such a statement, by the clock of this process. */
export function byOwnClock({ rows, rowCount }: PgQueryResult): PgQueryResult {
  const [row] = rows;
  const [due, serverNow] = [propertyOf(row, 'next_delay'), propertyOf(row, 'server_now')];
  if (typeof due !== 'string' || typeof serverNow !== 'string') return { rows, rowCount };
  const ownDue = String(Number(due) - Number(serverNow) + Date.now());
  return { rows: [{ ...row, next_delay: ownDue }], rowCount };
}

/** Returns true for the statement by which a worker looks for the jobs of dead ones. */
export function looksForStalled(text: string): boolean {
  return text.includes('move_stalled_jobs_to_wait(');
}

/** Forgets when the queue `$1` was last looked through, if that is yet to come: see {@link byServerClock}. */
export const FORGET_FUTURE_LOOK: string = `delete from meta
where queue = $1 and field = 'stalled-check' and value::bigint > ${SERVER_NOW}`;
