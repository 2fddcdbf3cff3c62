import * as z from 'zod';
import type { WebhookEvent } from '../../providers/banking-service/event.ts';
import { ok } from './answer.ts';
import { complaintsOf } from './complaints.ts';
import type { CheckedControls } from './controls.ts';
import type { DeliveryQueue } from './delivery-queue.ts';
import type { Endpoint, SandboxRequest } from './endpoint.ts';
import { RefusedError } from './refused-error.ts';
import type { Webhooks } from './webhooks.ts';

/** The parts of the sandbox that the controls reach beside its methods. */
interface ControlledParts {
  /** True if a step ages events, and the clock stays the real one. */
  readonly agesEvents: boolean;
  readonly queue: DeliveryQueue;
  readonly webhooks: Webhooks;
}

/** The sandbox's own controls, apart from the service's interface. */
export function controlRoutes(
  controls: CheckedControls,
  { agesEvents, queue, webhooks }: ControlledParts,
): readonly Endpoint[] {
  const now = (): string => new Date(controls.clock.now()).toISOString();
  return [
    {
      path: '/sandbox/events',
      post: async ({ body }) => {
        const { data } = outOfOrder.safeParse(body);
        return ok(data === undefined ? controls.send(body) : await sendOutOfOrder(controls, data));
      },
    },
    {
      path: '/sandbox/clock',
      get: () => ok({ now: now() }),
      post: async ({ body }) => {
        const agedMs = await makeStep(controls, queue, body);
        return ok({ now: now(), ...(agesEvents && { agedMs }) });
      },
    },
    {
      path: '/sandbox/deliveries',
      get: (request) =>
        ok(controls.deliveries({ event: readText(request, 'event'), webhook: readText(request, 'webhook') })),
    },
    { path: '/sandbox/fxQuotes/{fxQuoteId}/accept', post: ({ id }) => ok(controls.acceptQuote(Number(id))) },
    ...webhookControls(webhooks),
  ];
}

/** The controls of the page, which lacks the credentials of an administrator. */
function webhookControls(webhooks: Webhooks): readonly Endpoint[] {
  return [
    {
      path: '/sandbox/webhooks/{webhookId}/enable',
      post: ({ id }) => {
        webhooks.update(id, { enabled: true });
        return ok({ id, enabled: true });
      },
    },
    {
      // POST, so that neither a link nor an image of a foreign page leads to a key.
      path: '/sandbox/webhooks/{webhookId}/key',
      post: ({ id }) => ok({ id, secret_signing_key: webhooks.get(id).secret_signing_key }),
    },
  ];
}

/** The remaining members are those of an event, which `send` checks. */
const outOfOrder = z
  .looseObject({ outOfOrder: z.literal(true) })
  .transform(({ outOfOrder: _, ...request }) => request);

const OVERTAKEN_MS = 1_000;

/**
 * Makes two events of one resource happen, a second apart, and delivers the newer one first. Steps over
 * two seconds, and returns the older event.
 */
async function sendOutOfOrder(
  { send, clock }: CheckedControls,
  request: Readonly<Record<string, unknown>>,
): Promise<WebhookEvent> {
  const older = send({ ...request, delayMs: 2 * OVERTAKEN_MS });
  await clock.advance(OVERTAKEN_MS);
  send({ type: older.type, data: older.data, ageMs: request.ageMs });
  await clock.advance(OVERTAKEN_MS);
  return older;
}

const toNextRetry = z.strictObject({ toNextRetry: z.literal(true) });

/** Resolves with the length of the step. */
async function makeStep({ clock }: CheckedControls, queue: DeliveryQueue, body: unknown): Promise<number> {
  if (toNextRetry.safeParse(body).success) {
    const stepMs = await queue.advanceToNext();
    if (stepMs === undefined) throw new RefusedError(409, 'No delivery is pending');
    return stepMs;
  }
  const stepMs = readStep(body);
  await clock.advance(stepMs);
  return stepMs;
}

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
