import { isRefusal, sqlStateOf } from '../../../stores/postgres/errors.ts';

/**
 * Refusals that end by themselves: deadlocks and locks, too few resources, intervention by an operator,
 * errors of the system, and a server that is a replica until a failover is done.
 */
const PASSING_STATE = /^(40|53|55P03|57|58|25006)/;

/**
 * Returns true if the same statement may succeed later: the connection was lost, or PostgreSQL has refused
 * the statement because of its own state. After a lost connection it may have been run.
 */
export function isPassing(error: unknown): boolean {
  return !isRefusal(error) || PASSING_STATE.test(sqlStateOf(error) ?? '');
}

/** The code of the errors that BullMQ's functions raise, such as a lost lock. */
const BULLMQ_STATE = 'BM001';

/** Returns true for a refusal that is about one job, and not about all statements of a queue. */
export function isAboutOneJob(error: unknown): boolean {
  return sqlStateOf(error) === BULLMQ_STATE;
}

/**
 * The error of a statement that waits when its queue is closed. BullMQ does not report an error with this
 * message.
 */
export function closedError(): Error {
  return new Error('Connection is closed.');
}
