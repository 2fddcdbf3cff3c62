import type { Express, RequestHandler } from 'express';
import { RefusedError } from './refused-error.ts';

/** The handlers of one path. */
export interface Endpoint {
  /** With parameters as `{name}`. */
  readonly path: string;
  /** Runs first, whatever the method: no stranger learns more than that. */
  readonly guard?: RequestHandler;
  readonly get?: RequestHandler;
  readonly post?: RequestHandler;
  readonly put?: RequestHandler;
}

const METHODS = ['get', 'post', 'put'] as const;

/** Serves an endpoint; other methods are answered 405. Bodies are read by `readJson`, behind the guard. */
export function serve(app: Express, endpoint: Endpoint, readJson: RequestHandler): void {
  const route = app.route(endpoint.path.replaceAll(/\{(\w+)\}/g, ':$1'));
  const methods = METHODS.filter((method) => endpoint[method] !== undefined);
  const allowed = methods.map((method) => method.toUpperCase()).join(', ');
  if (endpoint.guard !== undefined) route.all(endpoint.guard);
  for (const method of methods) {
    const handler = endpoint[method];
    if (handler !== undefined) route[method](method === 'get' ? [handler] : [requireJson, readJson, handler]);
  }
  route.all((_request, response) => {
    response.set('allow', allowed);
    throw new RefusedError(405, 'Method not allowed', `allowed here: ${allowed}`);
  });
}

/**
 * Without a body too: no HTML form and no `no-cors` fetch can send this type, so no web page can have a
 * browser change something here without asking first.
 */
const requireJson: RequestHandler = (request, _response, next) => {
  const given = request.get('content-type');
  const [type = ''] = given?.split(';') ?? [];
  if (type.trim().toLowerCase() === 'application/json') {
    next();
    return;
  }
  const details =
    given === undefined
      ? 'send Content-Type: application/json, also without a body'
      : 'send the body with Content-Type: application/json';
  throw new RefusedError(415, 'Unsupported media type', details);
};
