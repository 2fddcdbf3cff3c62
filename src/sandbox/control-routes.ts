import * as z from 'zod';
import type { WebhookEvent } from '../events/event.ts';
import { type Answer, ok } from './answer.ts';
import { complaintsOf } from './complaints.ts';
import type { Endpoint, SandboxRequest } from './endpoint.ts';
import { RefusedError } from './refused-error.ts';
import type { Controls } from './sandbox.ts';

/** Controls that check their arguments. */
interface CheckingControls extends Controls {
  send(request: unknown): WebhookEvent;
  /** Resolves with false if no delivery is pending. */
  advanceToNext(): Promise<boolean>;
  /** Throws {@link RefusedError} for an unknown webhook. */
  enableWebhook(id: string): void;
}

/** The sandbox's own controls, apart from the service's interface. */
export function controlRoutes(sandbox: CheckingControls): readonly Endpoint[] {
  const time = (): Answer => ok({ now: new Date(sandbox.clock.now()).toISOString() });
  return [
    {
      path: '/sandbox/events',
      post: async ({ body }) => {
        const { data } = outOfOrder.safeParse(body);
        return ok(data === undefined ? sandbox.send(body) : await sendOutOfOrder(sandbox, data));
      },
    },
    {
      path: '/sandbox/clock',
      get: time,
      post: async ({ body }) => {
        if (!toNextRetry.safeParse(body).success) await sandbox.clock.advance(readStep(body));
        else if (!(await sandbox.advanceToNext())) throw new RefusedError(409, 'No delivery is pending');
        return time();
      },
    },
    {
      path: '/sandbox/deliveries',
      get: (request) =>
        ok(sandbox.deliveries({ event: readText(request, 'event'), webhook: readText(request, 'webhook') })),
    },
    {
      // For the page, which lacks the credentials of an administrator; the service has PUT instead.
      path: '/sandbox/webhooks/{webhookId}/enable',
      post: ({ id }) => {
        sandbox.enableWebhook(id);
        return ok({ id, enabled: true });
      },
    },
    { path: '/sandbox/fxQuotes/{fxQuoteId}/accept', post: ({ id }) => ok(sandbox.acceptQuote(Number(id))) },
  ];
}

/** The remaining members are those of an event, which `send` checks. */
const outOfOrder = z
  .looseObject({ outOfOrder: z.literal(true) })
  .transform(({ outOfOrder: _, ...request }) => request);

const OVERTAKEN_MS = 1_000;

/**
 * Makes two events of one resource happen, a second apart, and delivers the newer one first. Moves the clock
 * by two seconds, and returns the older event.
 */
async function sendOutOfOrder(
  { send, clock }: CheckingControls,
  request: Readonly<Record<string, unknown>>,
): Promise<WebhookEvent> {
  const older = send({ ...request, delayMs: 2 * OVERTAKEN_MS });
  await clock.advance(OVERTAKEN_MS);
  send({ type: older.type, data: older.data, ageMs: request.ageMs });
  await clock.advance(OVERTAKEN_MS);
  return older;
}

const toNextRetry = z.strictObject({ toNextRetry: z.literal(true) });

/** `clock.advance` checks the number. */
const step = z.strictObject({ advanceMs: z.number('must be a number') });

function readStep(body: unknown): number {
  const { data, error } = step.safeParse(body);
  if (error !== undefined) throw new RefusedError(400, 'Invalid step', complaintsOf(error));
  return data.advanceMs;
}

function readText({ query }: SandboxRequest, name: string): string | undefined {
  const [value, ...others] = query.getAll(name);
  if (others.length === 0) return value;
  throw new RefusedError(400, `Invalid ${name}`, `${name} must be given once`);
}
