import { enqueueingId } from '../dedupe/claim-id.ts';
import { JobError } from '../errors.ts';
import { addInTime } from '../queue/add-in-time.ts';
import type { Queue } from '../queue/queue.ts';
import { createJob, type ReadJob } from '../queue/queued-job.ts';
import * as origin from './origin.ts';
import type { Route, Router } from './router.ts';
import type { RunInput } from './run-input.ts';

export function isQueued({ queued }: Route): boolean {
  return queued;
}

/**
 * The input of the run before the answer, if workers run the queued handlers. That run calls the other
 * handlers and then enqueues the event. In the store it has an id of its own.
 */
export function toEnqueueInput(input: RunInput, queue: Queue, now: () => number): RunInput {
  const { id, event, rawBody, headers, receivedAt, deadline, routes } = input;
  const { type } = event;
  const handlers = routes.filter(isQueued).flatMap(({ name }) => name ?? []);
  return {
    ...input,
    claimId: enqueueingId(id),
    origin: origin.enqueue,
    routes: routes.filter((route) => !isQueued(route)),
    enqueue: ({ mayWait, ...progress }) => {
      const content = { id, type, rawBody, headers, receivedAt, queuedAt: now(), handlers, ...progress };
      return addInTime(queue, createJob(content), { limitMs: deadline.enqueueMs, mayWait });
    },
  };
}

/**
 * The handlers that a worker runs: those of the type that are queued, and any that the job names. A worker
 * that lacks one of them may be older than the receiver, or newer.
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
