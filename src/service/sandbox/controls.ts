import type { WebhookEvent } from '../../providers/banking-service/event.ts';
import type { DeliveryQueue } from './delivery-queue.ts';
import type { EventHistory } from './event-history.ts';
import { MAX_STEP_MS, readEventRequest } from './event-request.ts';
import type { FxQuotes } from './fx-quotes.ts';
import { RefusedError } from './refused-error.ts';
import type { Controls } from './sandbox.ts';
import { isAskedFor } from './shown-id.ts';
import type { State } from './state.ts';

/** Controls that check a request which came over HTTP, or from a program without types. */
export interface CheckedControls extends Controls {
  send(request: unknown): WebhookEvent;
}

/** Creates the controls, which are methods of a sandbox and served below `/sandbox/`. */
export function createControls(
  { clock, attempts }: State,
  queue: DeliveryQueue,
  history: EventHistory,
  quotes: FxQuotes,
): CheckedControls {
  return {
    clock: {
      now: clock.shownNow,
      advance: async (ms) => {
        if (!Number.isInteger(ms) || ms < 0 || ms > MAX_STEP_MS) {
          throw new RefusedError(400, 'Invalid step', `must be a whole number from 0 to ${MAX_STEP_MS}`);
        }
        await queue.advance(ms);
      },
    },
    send: (request) => {
      const sent = readEventRequest(request, clock.shownNow());
      queue.add(sent);
      history.add(sent.event);
      return sent.event;
    },
    deliveries: ({ event, webhook } = {}) =>
      attempts.filter(
        (attempt) =>
          (event === undefined || isAskedFor(attempt.event, event)) &&
          (webhook === undefined || attempt.webhook === webhook),
      ),
    acceptQuote: (id) => quotes.accept(id),
  };
}
