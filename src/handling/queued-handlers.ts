import { acceptanceId } from '../dedupe/claim-id.ts';
import { JobError } from '../errors.ts';
import { addInTime } from '../queue/add-in-time.ts';
import type { Queue } from '../queue/queue.ts';
import { createJob, type ReadJob } from '../queue/queued-job.ts';
import type { Job } from './job.ts';
import type { Route, Router } from './router.ts';

/** The most that adding one job may take; a fourth of the deadline where that is less. */
const ADD_LIMIT_MS = 5_000;

export function isQueued({ queued }: Route): boolean {
  return queued;
}

/**
 * The part of an event's handling that comes before the answer: the handlers that are not queued, and then
 * the way into the queue. The store knows it apart from what the worker does.
 */
export function toAcceptance(job: Job, queue: Queue, now: () => number): Job {
  const { id, event, rawBody, headers, receivedAt, deadlineMs, routes } = job;
  const { type } = event;
  const handlers = routes.filter(isQueued).flatMap(({ name }) => name ?? []);
  return {
    ...job,
    claimId: acceptanceId(id),
    routes: routes.filter((route) => !isQueued(route)),
    enqueue: ({ mayWait, ...progress }) => {
      const content = { id, type, rawBody, headers, receivedAt, queuedAt: now(), handlers, ...progress };
      const limitMs = Math.min(ADD_LIMIT_MS, deadlineMs / 4);
      return addInTime(queue, createJob(content), { limitMs, mayWait });
    },
  };
}

/**
 * The handlers that a worker runs: those of the type that are queued, and any that the job names. A worker
 * that lacks one of these may be older than the receiver, or newer.
 */
export function workerRoutes(router: Router, type: string, { handlers }: ReadJob): readonly Route[] {
  const all = router.match(type);
  const missing = handlers.filter((wanted) => !all.some(({ name }) => name === wanted));
  const isWanted = ({ name, queued }: Route): boolean =>
    queued || (name !== undefined && handlers.includes(name));
  const routes = all.filter(isWanted);
  if (missing.length === 0 && routes.length > 0) return routes;
  const names = missing.map((name) => `"${name}"`).join(', ') || 'a handler with queue: true';
  throw new JobError(
    'handler_missing',
    `this worker lacks ${names} for ${type}: give it the handlers of the receiver, or wait for the end of the deploy`,
  );
}
