import type { ErrorRequestHandler, Express } from 'express';
import { z } from 'zod';
import { messageOf } from '../errors.ts';
import type { ErrorBody } from '../service/error-body.ts';
import { type Endpoint, serve } from './endpoint.ts';
import { refuseForeignRequests } from './foreign-requests.ts';
import type { Peers } from './peers.ts';
import { RefusedError } from './refused-error.ts';

/** Far above what receivers take by default, so that their limit can be tried with an event. */
const MAX_BODY_BYTES = 8_388_608;

/**
 * The Express application, the same on Express 4 and 5. `listeningHost` gives
 * the host that it is served at, if it is.
 */
export function createApp(
  { express }: Peers,
  endpoints: readonly Endpoint[],
  listeningHost: () => string | undefined,
): Express {
  const app = express();
  app.disable('x-powered-by').disable('etag').enable('case sensitive routing');
  app.use(refuseForeignRequests(listeningHost));
  const readJson = express.json({ limit: MAX_BODY_BYTES });
  for (const endpoint of endpoints) serve(app, endpoint, readJson);
  app.use((request) => {
    throw new RefusedError(404, 'Not found', `${request.path} is no path of the service or of the sandbox`);
  });
  app.use(answerError);
  return app;
}

// Express tells an error handler by its four parameters.
const answerError: ErrorRequestHandler = (error, _request, response, next) => {
  if (response.headersSent) {
    next(error);
    return;
  }
  const body = errorBodyOf(error);
  response.status(body.status).json(body);
};

/** The errors that Express and its body parser throw for a wrong request. */
const requestError = z.looseObject({ status: z.int().min(400).max(499), message: z.string() });

function errorBodyOf(error: unknown): ErrorBody {
  if (error instanceof RefusedError) {
    const { status, message, details } = error;
    return { status, message, ...(details !== undefined && { details }) };
  }
  const { data } = requestError.safeParse(error);
  if (data !== undefined) return { status: data.status, message: 'Invalid request', details: data.message };
  return { status: 500, message: 'Internal error', details: messageOf(error) };
}
