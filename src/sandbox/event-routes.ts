import type { WebhookEvent } from '../events/event.ts';
import { createSampleData } from '../service/sample-data.ts';
import { ok } from './answer.ts';
import type { Endpoint } from './endpoint.ts';

/** The parts of the sandbox that know events which have happened. */
interface KnownEvents {
  /** Throws {@link RefusedError} for an unknown id. */
  find(id: string): WebhookEvent;
  /** Throws {@link RefusedError} if no enabled webhook wants the event. */
  resend(event: WebhookEvent): void;
  /** Forgets the events that have ended. */
  clear(): void;
}

/** The controls for events that have happened, and for the data of events that have not. */
export function eventRoutes({ find, resend, clear }: KnownEvents): readonly Endpoint[] {
  return [
    { path: '/sandbox/events/{eventId}', get: ({ id }) => ok(find(id)) },
    {
      path: '/sandbox/events/{eventId}/resend',
      post: ({ id }) => {
        const event = find(id);
        resend(event);
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
