import { checkOptions, checkReceiver } from '../src/receiver/checks/check-options.ts';
import { ConfigurationError } from '../src/receiver/errors.ts';
import { messageOf, propertyOf, show } from '../src/receiver/values/foreign-values.ts';
import type { Mountable } from '../src/receiver-interface.ts';
import { toNode } from './node.ts';
import type { NodeRequest, NodeResponse } from './node-http.ts';
import { decodedPath, pathsOf, readPath } from './served-path.ts';

/** Options of {@link toFastify}. */
export interface FastifyOptions {
  /**
   * The path of the route, with or without a slash at its end, behind the `prefix` of `app.register`. It is
   * encoded as in a URL, and is not a pattern: `:` and `*` stand for themselves.
   */
  readonly path: string;
}

/** A plugin for `app.register`. */
export type FastifyPlugin = (
  scope: FastifyScope,
  options: unknown,
  done: (error?: ConfigurationError) => void,
) => void;

/** The part of a Fastify instance that `toFastify` uses. */
export interface FastifyScope {
  /** The options of the application. Later majors of Fastify keep those of the router apart. */
  readonly initialConfig: SlashOption & { readonly routerOptions?: SlashOption };
  /** Adds a route for all methods that this instance can serve. */
  all(url: string, options: FastifyRouteOptions, handler: () => void): unknown;
}

/** An option of Fastify's router. */
export interface SlashOption {
  /** True if `/webhooks/` and `/webhooks` are one route; false by default. */
  readonly ignoreTrailingSlash?: boolean;
}

/** The options of the route that `toFastify` adds. */
export interface FastifyRouteOptions {
  /** A hook; it never calls the `done` of Fastify, because it answers. */
  readonly preParsing: (request: FastifyRequest, reply: FastifyReply) => void;
}

/** The part of a request of Fastify that `toFastify` uses. */
export interface FastifyRequest {
  /** The request of Node.js. */
  readonly raw: NodeRequest;
}

/** The part of a reply of Fastify that `toFastify` uses. */
export interface FastifyReply {
  /** The response of Node.js. */
  readonly raw: NodeResponse & { setHeader(name: string, value: HeaderValue): unknown };
  /** The headers that hooks have set so far. */
  getHeaders(): { readonly [name: string]: HeaderValue | undefined };
  /** Tells Fastify not to answer. */
  hijack(): unknown;
  /** Answers as if there were no route. */
  callNotFound(): unknown;
}

/** The value of a response header. */
export type HeaderValue = number | string | string[];

/**
 * Mounts a receiver on Fastify 5, by a plugin that adds one route and changes no other: their bodies are
 * parsed as before. The route answers before Fastify would parse the body. So its hooks `onRequest`,
 * `preParsing` and `onResponse` run, and those from `preValidation` to `onSend` do not.
 *
 * @throws ConfigurationError for a wrong option, or for a value that is not a receiver.
 *
 * @example
 * ```ts
 * import { toFastify } from 'posthorn/fastify';
 *
 * app.register(toFastify(receiver, { path: '/webhooks' }));
 * ```
 */
export function toFastify(receiver: Mountable, options: FastifyOptions): FastifyPlugin {
  checkReceiver(receiver, 'toFastify', ['receive']);
  if (options === undefined)
    throw new ConfigurationError(`toFastify needs the path of its route: ${adviceFor('/webhooks')}`);
  checkOptions(options, ['path'], 'toFastify');
  const path = readPath(options.path);
  const handle = toNode(receiver);
  // A handler would run too late: Fastify refuses long bodies, and content types without a parser, before it.
  const preParsing = ({ raw }: FastifyRequest, reply: FastifyReply): void => {
    if (!isEndOf(raw, path)) return void reply.callNotFound();
    sendAlong(reply);
    handle(raw, reply.raw);
    reply.hijack();
  };
  return (scope, _options, done) => {
    checkScope(scope, path);
    try {
      for (const url of spellingsOf(path, scope)) scope.all(url, { preParsing }, neverReached);
    } catch (cause) {
      // Fastify does not catch an error that is thrown here, and would wait for the plugin forever.
      const message = `toFastify cannot add its route ${show(path)}; give it a path that no other route has`;
      done(new ConfigurationError(`${message}: ${messageOf(cause)}`, { cause }));
      return;
    }
    done();
  };
}

/** Fastify takes any function for a handler of a route, and calls it with a request. */
function checkScope(scope: unknown, path: string): void {
  if (typeof propertyOf(scope, 'all') === 'function') return;
  throw new ConfigurationError(
    `toFastify returns a plugin, which adds its route itself, and not a handler or a hook: ${adviceFor(path)}`,
  );
}

function adviceFor(path: string): string {
  return `mount it by app.register(toFastify(receiver, { path: ${show(path)} })), without app.post or app.route`;
}

/** Fastify keeps the headers that hooks have set to itself until it answers. */
function sendAlong(reply: FastifyReply): void {
  for (const [name, value] of Object.entries(reply.getHeaders()))
    if (value !== undefined) reply.raw.setHeader(name, value);
}

/** With and without a slash at the end, unless Fastify takes both for one route, or adds the other itself. */
function spellingsOf(path: string, { initialConfig }: FastifyScope): readonly string[] {
  const { ignoreTrailingSlash = initialConfig.ignoreTrailingSlash } = initialConfig.routerOptions ?? {};
  const route = toRoute(path);
  return path === '/' || ignoreTrailingSlash === true ? [route] : [route, `${route}/`];
}

const RESERVED = /\*|%../g;

/**
 * The path in the language of Fastify's router, which compares a path once it is decoded. It has an escape
 * for `:` only. Any other character that it would take for something else is a parameter of one value.
 */
function toRoute(path: string): string {
  let count = 0;
  return decodedPath(path)
    .replaceAll(':', '::')
    .replace(RESERVED, (character) => {
      const code = decodeURIComponent(character).charCodeAt(0).toString(16).padStart(4, '0');
      count += 1;
      return `:posthorn${count}(^\\u${code}$)`;
    });
}

/** The router takes `%3A` and `:` in a parameter for the same. */
function isEndOf({ url }: NodeRequest, path: string): boolean {
  const decoded = decodedPath(path);
  return (
    !decoded.includes('%') || pathsOf({ url }).some((requested) => decodedPath(requested).endsWith(decoded))
  );
}

function neverReached(): void {}
