import type { NodeRequest, NodeResponse } from './node-http.ts';

/** The part of a Fastify instance that `toFastify` uses. */
export interface FastifyScope {
  /** What the application has set; a later major of Fastify has the options of its router apart. */
  readonly initialConfig: SlashOption & { readonly routerOptions?: SlashOption };
  /** Adds a route for all methods that this instance can serve. */
  all(url: string, options: FastifyRouteOptions, handler: () => void): unknown;
}

/** An option of Fastify's router. */
export interface SlashOption {
  /** True where `/webhooks/` and `/webhooks` are one route; false by default. */
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
  /** What hooks have set so far. */
  getHeaders(): { readonly [name: string]: HeaderValue | undefined };
  /** Tells Fastify that somebody else answers. */
  hijack(): unknown;
}

/** The value of a response header. */
export type HeaderValue = number | string | string[];
