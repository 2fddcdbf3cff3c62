import { checkOptions, checkReceiver } from '../src/receiver/checks/check-options.ts';
import { ConfigurationError } from '../src/receiver/errors.ts';
import { typeNameOf } from '../src/receiver/values/foreign-values.ts';
import type { Mountable } from '../src/receiver-interface.ts';
import { answer } from './answer.ts';
import { hangUp, isNodeRequest, type NodeRequest, type NodeResponse } from './node-http.ts';
import { isSamePath, pathsOf, readPath, reportIfNotFound, urlOf } from './served-path.ts';

/** Options of {@link toKoa}. */
export interface KoaOptions {
  /**
   * Serve only this path, with or without a slash at its end; every path by default. It is encoded as in a
   * URL, and is not a pattern: `:` and `*` stand for themselves. Behind the prefix of a mount (`koa-mount`)
   * it may be the whole path, or what follows the prefix. Requests for other paths go to `next`; a delivery
   * that then gets 404 is reported.
   */
  readonly path?: string | undefined;
}

/** A middleware of Koa. */
export type KoaMiddleware = (context: KoaContext, next: () => Promise<unknown>) => Promise<void>;

/** The part of a context of Koa that {@link toKoa} uses. */
export interface KoaContext {
  /** The request of Node.js. */
  readonly req: NodeRequest;
  /** The response of Node.js. */
  readonly res: NodeResponse;
  /** The whole target of the request: a mount takes its prefix out of `req.url`. */
  readonly originalUrl: string;
  /** Koa answers by itself unless this is false. */
  respond?: boolean | undefined;
}

/**
 * Mounts a receiver on Koa 2 or 3, before any body parser. It answers by the response of Node.js, with
 * `ctx.respond = false`; middleware before it finds the status in `ctx.status` after its `await next()`.
 *
 * @throws ConfigurationError for a wrong option, or for a value that is not a receiver. The middleware
 * rejects with it for a value that is not a context of Koa.
 *
 * @example
 * ```ts
 * import { toKoa } from 'posthorn/koa';
 *
 * app.use(toKoa(receiver, { path: '/webhooks' }));
 * app.use(bodyParser());
 * ```
 */
export function toKoa(receiver: Mountable, options: KoaOptions = {}): KoaMiddleware {
  checkReceiver(receiver, 'toKoa', ['receive']);
  checkOptions(options, ['path'], 'toKoa');
  const served = options.path === undefined ? undefined : readPath(options.path);
  return async (context, next) => {
    checkContext(context);
    const { req, res, originalUrl } = context;
    const paths = pathsOf({ url: req.url, originalUrl });
    if (served === undefined || paths.some((path) => isSamePath(path, served))) {
      // Koa would set a body of its own, and would not drain or close the connection.
      context.respond = false;
      // An application around Koa keeps in `req.originalUrl` the prefix that it takes out of `req.url`.
      const url = urlOf({ url: originalUrl, originalUrl: req.originalUrl });
      await answer(receiver, req, res, url).catch((error: unknown) => fail(context, error));
    } else {
      reportIfNotFound(receiver, req, res, { requested: paths[0] ?? '/', served });
      await next();
    }
  };
}

function checkContext(context: KoaContext): void {
  if (isNodeRequest(context?.req)) return;
  throw new ConfigurationError(`toKoa makes a middleware of Koa, for app.use; got ${typeNameOf(context)}`);
}

/** Koa answers 500 unless an answer has begun, which it would leave open. */
function fail({ req, res }: KoaContext, error: unknown): never {
  if (res.headersSent) hangUp(req);
  throw error;
}
