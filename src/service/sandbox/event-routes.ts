import { createSampleData } from '../shapes/sample-data.ts';
import { ok } from './answer.ts';
import type { DeliveryQueue } from './delivery-queue.ts';
import type { Endpoint } from './endpoint.ts';
import type { EventHistory } from './event-history.ts';

/** The controls for events that have happened, and for the data of events that have not. */
export function eventRoutes(
  history: EventHistory,
  queue: DeliveryQueue,
  clear: () => void,
): readonly Endpoint[] {
  return [
    { path: '/sandbox/events/{eventId}', get: ({ id }) => ok(history.get(id)) },
    {
      path: '/sandbox/events/{eventId}/resend',
      post: ({ id }) => {
        const event = history.get(id);
        queue.resend(event);
        return ok(event);
      },
    },
    { path: '/sandbox/samples/{type}', get: ({ id }) => ok(createSampleData(id)) },
    {
      path: '/sandbox/clear',
      post: () => {
        clear();
        return ok({ cleared: true });
      },
    },
  ];
}
