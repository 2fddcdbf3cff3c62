import { enqueueingId } from '../dedupe/claim-id.ts';
import { addInTime } from '../queue/add-in-time.ts';
import type { Queue } from '../queue/queue.ts';
import { createJob } from '../queue/queued-job.ts';
import { enqueueOrigin } from './origin.ts';
import type { Route } from './router.ts';
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
    origin: enqueueOrigin,
    routes: routes.filter((route) => !isQueued(route)),
    enqueue: ({ mayWait, ...progress }) => {
      const content = { id, type, rawBody, headers, receivedAt, queuedAt: now(), handlers, ...progress };
      return addInTime(queue, createJob(content), { limitMs: deadline.enqueueMs, mayWait });
    },
  };
}
