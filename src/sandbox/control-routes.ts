import type { Request, RequestHandler } from 'express';
import { z } from 'zod';
import { complaintsOf } from './complaints.ts';
import type { Endpoint } from './endpoint.ts';
import { RefusedError } from './refused-error.ts';
import type { Controls } from './sandbox.ts';

/** The sandbox's own controls, apart from the service's interface. */
export function controlRoutes(sandbox: Controls): readonly Endpoint[] {
  const time = () => ({ now: new Date(sandbox.clock.now()).toISOString() });
  const advance: RequestHandler = (request, response, next) => {
    const advanceMs = readStep(request.body);
    // Express 4 would not see a rejection.
    sandbox.clock.advance(advanceMs).then(() => void response.json(time()), next);
  };
  return [
    {
      path: '/sandbox/events',
      post: (request, response) => void response.json(sandbox.send(request.body)),
    },
    {
      path: '/sandbox/clock',
      get: (_request, response) => void response.json(time()),
      post: advance,
    },
    {
      path: '/sandbox/deliveries',
      get: (request, response) => {
        const filter = { event: readText(request, 'event'), webhook: readText(request, 'webhook') };
        response.json(sandbox.deliveries(filter));
      },
    },
    {
      path: '/sandbox/fxQuotes/{fxQuoteId}/accept',
      post: (request, response) => void response.json(sandbox.acceptQuote(Number(request.params.fxQuoteId))),
    },
  ];
}

/** `clock.advance` says which numbers it takes. */
const step = z.strictObject({ advanceMs: z.number('must be a number') });

function readStep(body: unknown): number {
  const { data, error } = step.safeParse(body);
  if (error !== undefined) throw new RefusedError(400, 'Invalid step', complaintsOf(error));
  return data.advanceMs;
}

function readText({ query }: Request, name: string): string | undefined {
  const value = query[name];
  if (value === undefined || typeof value === 'string') return value;
  throw new RefusedError(400, `Invalid ${name}`, `${name} must be given once`);
}
