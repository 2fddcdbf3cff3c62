import { createApp } from './app.ts';
import { createGuards } from './authentication.ts';
import { controlRoutes } from './control-routes.ts';
import { DeliveryQueue } from './delivery-queue.ts';
import { eCheckRoutes } from './e-check-routes.ts';
import { EventHistory } from './event-history.ts';
import { MAX_STEP_MS, readEventRequest } from './event-request.ts';
import { eventRoutes } from './event-routes.ts';
import { fxQuoteRoutes } from './fx-quote-routes.ts';
import { FxQuotes } from './fx-quotes.ts';
import { Observers } from './observers.ts';
import { readSandboxOptions, type SandboxOptions } from './options.ts';
import { ActivityStream } from './page/activity-stream.ts';
import { adviceFor } from './page/advice.ts';
import { pageRoutes } from './page/routes.ts';
import { referenceRoutes } from './reference-routes.ts';
import { RefusedError } from './refused-error.ts';
import type { Controls, Sandbox, SandboxApp } from './sandbox.ts';
import { SandboxServer } from './server.ts';
import { openState } from './state.ts';
import { webhookRoutes } from './webhook-routes.ts';
import { Webhooks } from './webhooks.ts';

/** An endpoint has 30 seconds for its answer (interface, "Limits"). */
const ANSWER_TIMEOUT_MS = 30_000;

/** The settings that users cannot change. */
export interface Fixed {
  /** How long an endpoint has for its answer, in real time. */
  readonly answerTimeoutMs?: number;
  /**
   * True if a step makes the events that have not ended older, and everybody sees real time. A receiver in
   * another process, which has its own clock, then sees the ages that it would see in production.
   */
  readonly agesEvents?: boolean;
  /** How a shell starts the program, for the commands that the page shows; `npx posthorn` by default. */
  readonly program?: string;
}

/** Puts the parts of a sandbox together. */
export function assembleSandbox(
  options: SandboxOptions,
  { answerTimeoutMs = ANSWER_TIMEOUT_MS, agesEvents = false, program = 'npx posthorn' }: Fixed = {},
): Sandbox {
  const { credentials, speed, startAt, stateFile, signatureHeader, signingKey } = readSandboxOptions(options);
  const state = openState(stateFile, speed, startAt, agesEvents);
  const webhooks = new Webhooks(state, signingKey);
  const quotes = new FxQuotes(state, credentials.administrator.username);
  const observers = new Observers();
  const { onAttempt } = observers;
  const queue = new DeliveryQueue(state, webhooks, { signatureHeader, answerTimeoutMs, onAttempt });
  const history = new EventHistory(state);
  const activity = new ActivityStream(state, history);
  const controls = {
    clock: {
      now: state.clock.shownNow,
      advance: async (ms) => {
        if (!Number.isInteger(ms) || ms < 0 || ms > MAX_STEP_MS) {
          throw new RefusedError(400, 'Invalid step', `must be a whole number from 0 to ${MAX_STEP_MS}`);
        }
        await queue.advance(ms);
      },
    },
    send: (request: unknown) => {
      const sent = readEventRequest(request, state.clock.shownNow());
      history.add(sent.event);
      queue.add(sent);
      return sent.event;
    },
    deliveries: ({ event, webhook } = {}) =>
      state.attempts.filter(
        (attempt) =>
          (event === undefined || attempt.event === event) &&
          (webhook === undefined || attempt.webhook === webhook),
      ),
    acceptQuote: (id) => quotes.accept(id),
  } satisfies Controls;
  const guards = createGuards(credentials);
  const endpoints = [
    ...webhookRoutes(webhooks, guards.administrator),
    ...fxQuoteRoutes(quotes, guards.banking),
    ...eCheckRoutes(guards.banking),
    ...referenceRoutes(credentials, guards.profile),
    ...controlRoutes({
      ...controls,
      agesEvents,
      advanceToNext: () => queue.advanceToNext(),
      enableWebhook: (id) => void webhooks.update(id, { enabled: true }),
      signingKey: (id) => webhooks.get(id).secret_signing_key,
    }),
    ...eventRoutes({
      find: (id) => history.get(id),
      resend: (event) => queue.resend(event),
      clear: () => {
        history.clear();
        activity.startAnew();
        state.save();
      },
    }),
    ...pageRoutes(activity, adviceFor(program, credentials)),
  ];
  const app: SandboxApp = createApp(endpoints, () => server.host);
  const server = new SandboxServer(app);
  return {
    ...controls,
    app,
    observe: observers.add,
    listen: (port, host) => server.listen(port, host),
    settled: () => queue.settled(),
    close: async () => {
      activity.close();
      await Promise.all([server.close(), queue.close()]);
    },
  };
}
