import { createApp } from './app.ts';
import { createGuards } from './authentication.ts';
import { controlRoutes } from './control-routes.ts';
import { createControls } from './controls.ts';
import { DeliveryQueue } from './delivery-queue.ts';
import { eCheckRoutes } from './e-check-routes.ts';
import { EventHistory } from './event-history.ts';
import { eventRoutes } from './event-routes.ts';
import { fxQuoteRoutes } from './fx-quote-routes.ts';
import { FxQuotes } from './fx-quotes.ts';
import { Observers } from './observers.ts';
import { readSandboxOptions, type SandboxOptions } from './options.ts';
import { ActivityStream } from './page/activity-stream.ts';
import { adviceFor } from './page/advice.ts';
import { pageRoutes } from './page/routes.ts';
import { referenceRoutes } from './reference-routes.ts';
import type { Sandbox, SandboxApp } from './sandbox.ts';
import { SandboxServer } from './server.ts';
import { openState } from './state.ts';
import { webhookRoutes } from './webhook-routes.ts';
import { Webhooks } from './webhooks.ts';

/** An endpoint has 30 seconds for its answer (interface, "Limits"). */
const ANSWER_TIMEOUT_MS = 30_000;

/** The settings that users cannot change. */
export interface InternalSettings {
  /** The time that an endpoint has for its answer, in real time. */
  readonly answerTimeoutMs?: number;
  /**
   * True if a step makes the events that have not ended older, and everybody sees real time. A receiver in
   * another process, which has its own clock, then sees the ages that it would see in production.
   */
  readonly agesEvents?: boolean;
  /** The command that starts the program, for the commands that the page shows; `npx posthorn` by default. */
  readonly program?: string;
}

/** Puts the parts of a sandbox together. */
export function assembleSandbox(
  options: SandboxOptions,
  {
    answerTimeoutMs = ANSWER_TIMEOUT_MS,
    agesEvents = false,
    program = 'npx posthorn',
  }: InternalSettings = {},
): Sandbox {
  const { credentials, speed, startAt, stateFile, signatureHeader, signingKey } = readSandboxOptions(options);
  const state = openState(stateFile, speed, startAt, agesEvents);
  const webhooks = new Webhooks(state, signingKey);
  const quotes = new FxQuotes(state, credentials.administrator.username);
  const { add: observe, onAttempt } = new Observers();
  const queue = new DeliveryQueue(state, webhooks, { signatureHeader, answerTimeoutMs, onAttempt });
  const history = new EventHistory(state);
  const activity = new ActivityStream(state, history);
  const controls = createControls(state, queue, history, quotes);
  const guards = createGuards(credentials);
  const endpoints = [
    ...webhookRoutes(webhooks, guards.administrator),
    ...fxQuoteRoutes(quotes, guards.banking),
    ...eCheckRoutes(guards.banking),
    ...referenceRoutes(credentials, guards.profile),
    ...controlRoutes(controls, { agesEvents, queue, webhooks }),
    ...eventRoutes(history, queue, () => {
      // First, because `clear` tells the pages, and then throws if the state file cannot be written.
      activity.startAnew();
      history.clear();
    }),
    ...pageRoutes(activity, adviceFor(program, credentials)),
  ];
  const app: SandboxApp = createApp(endpoints, () => server.host);
  const server = new SandboxServer(app);
  return {
    ...controls,
    app,
    observe,
    listen: (port, host) => server.listen(port, host),
    settled: () => queue.settled(),
    close: async () => {
      activity.close();
      await Promise.all([server.close(), queue.close()]);
    },
  };
}
