import { paths } from '../shapes/paths.ts';
import { ok } from './answer.ts';
import type { Guard } from './authentication.ts';
import type { Endpoint } from './endpoint.ts';
import type { FxQuotes } from './fx-quotes.ts';

/** FX quotes (interface, "Create FX quote" and "Retrieve FX quote"). */
export function fxQuoteRoutes(quotes: FxQuotes, guard: Guard): readonly Endpoint[] {
  return [
    { path: paths.fxQuotes, guard, post: ({ body }) => ok(quotes.create(body)) },
    { path: paths.fxQuote, guard, get: ({ id }) => ok(quotes.get(Number(id))) },
  ];
}
