import { checkOptions } from '../src/check-options.ts';
import type { FastifyReply, FastifyRequest, FastifyScope } from './fastify-scope.ts';
import { checkReceiver, type Mountable } from './mountable.ts';
import { toNode } from './node.ts';
import { readPath } from './request-path.ts';

export type {
  FastifyReply,
  FastifyRequest,
  FastifyRouteOptions,
  FastifyScope,
  HeaderValue,
  SlashOption,
} from './fastify-scope.ts';

/** Options of {@link toFastify}. */
export interface FastifyOptions {
  /** The path of the route, with or without a slash at its end, behind the `prefix` of `app.register`. */
  readonly path: string;
}

/** A plugin for `app.register`. */
export type FastifyPlugin = (scope: FastifyScope, options: unknown, done: () => void) => void;

/**
 * Mounts a receiver on Fastify 5, by a plugin that adds one route and changes no other: their bodies are
 * parsed as before. The route answers before Fastify would parse the body. So its hooks `onRequest`,
 * `preParsing` and `onResponse` run, and those from `preValidation` to `onSend` do not.
 *
 * @throws ConfigurationError for a wrong option, or for what is no receiver.
 *
 * @example
 * ```ts
 * app.register(toFastify(receiver, { path: '/webhooks' }));
 * ```
 */
export function toFastify(receiver: Mountable, options: FastifyOptions): FastifyPlugin {
  checkReceiver(receiver, 'toFastify');
  checkOptions(options, ['path'], 'toFastify');
  const path = readPath(options.path);
  const handle = toNode(receiver);
  // In its handlers it is too late: Fastify has refused content types without a parser, and long bodies.
  const preParsing = ({ raw }: FastifyRequest, reply: FastifyReply): void => {
    sendAlong(reply);
    handle(raw, reply.raw);
    reply.hijack();
  };
  return (scope, _options, done) => {
    for (const url of spellingsOf(path, scope)) scope.all(url, { preParsing }, neverReached);
    done();
  };
}

/** Fastify keeps the headers that hooks have set to itself until it answers. */
function sendAlong(reply: FastifyReply): void {
  for (const [name, value] of Object.entries(reply.getHeaders()))
    if (value !== undefined) reply.raw.setHeader(name, value);
}

/** With and without a slash at the end, unless Fastify takes both for one route, or adds the other itself. */
function spellingsOf(path: string, { initialConfig }: FastifyScope): readonly string[] {
  const { ignoreTrailingSlash = initialConfig.ignoreTrailingSlash } = initialConfig.routerOptions ?? {};
  return path === '/' || ignoreTrailingSlash === true ? [path] : [path, `${path}/`];
}

function neverReached(): void {}
