import { z } from 'zod';
import type { WebhookEvent } from '../events/event.ts';
import { type Answer, ok } from './answer.ts';
import { complaintsOf } from './complaints.ts';
import type { Endpoint, SandboxRequest } from './endpoint.ts';
import { RefusedError } from './refused-error.ts';
import type { Controls } from './sandbox.ts';

/** Controls that check what they are given. */
interface CheckingControls extends Controls {
  send(request: unknown): WebhookEvent;
}

/** The sandbox's own controls, apart from the service's interface. */
export function controlRoutes(sandbox: CheckingControls): readonly Endpoint[] {
  const time = (): Answer => ok({ now: new Date(sandbox.clock.now()).toISOString() });
  return [
    { path: '/sandbox/events', post: ({ body }) => ok(sandbox.send(body)) },
    {
      path: '/sandbox/clock',
      get: time,
      post: async ({ body }) => {
        await sandbox.clock.advance(readStep(body));
        return time();
      },
    },
    {
      path: '/sandbox/deliveries',
      get: (request) =>
        ok(sandbox.deliveries({ event: readText(request, 'event'), webhook: readText(request, 'webhook') })),
    },
    { path: '/sandbox/fxQuotes/{fxQuoteId}/accept', post: ({ id }) => ok(sandbox.acceptQuote(Number(id))) },
  ];
}

/** `clock.advance` says which numbers it takes. */
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
