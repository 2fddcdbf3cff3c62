import type { RequestHandler } from 'express';
import { paths } from '../service/paths.ts';
import type { Endpoint } from './endpoint.ts';
import type { FxQuotes } from './fx-quotes.ts';

/** FX quotes (interface, "Create FX quote" and "Retrieve FX quote"). */
export function fxQuoteRoutes(quotes: FxQuotes, guard: RequestHandler): readonly Endpoint[] {
  return [
    {
      path: paths.fxQuotes,
      guard,
      post: (request, response) => void response.json(quotes.create(request.body)),
    },
    {
      path: paths.fxQuote,
      guard,
      get: (request, response) => void response.json(quotes.get(Number(request.params.fxQuoteId))),
    },
  ];
}
