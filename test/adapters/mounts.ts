import { promisify } from 'node:util';
import { getRequestListener } from '@hono/node-server';
import express5 from 'express';
import express4 from 'express-4';
import fastify, { type FastifyInstance, type FastifyServerOptions } from 'fastify';
import { type Context, Hono } from 'hono';
import Koa, { type Middleware } from 'koa';
import { toExpress } from 'posthorn/express';
import { toFastify } from 'posthorn/fastify';
import { toFetch } from 'posthorn/fetch';
import { toKoa } from 'posthorn/koa';
import { toNode } from 'posthorn/node';
import { listen, type Mount, type Mounted } from './endpoint.ts';

type Express = typeof express5;

export const mountOnNode: Mount = (receiver) => listen(toNode(receiver));

/** Mounts behind something that reads the body, and keeps nothing of it. */
export const mountBehindReader: Mount = (receiver) => {
  const handle = toNode(receiver);
  return listen((incoming, response) => {
    incoming.resume().once('end', () => handle(incoming, response));
  });
};

export const expressVersions: [name: string, express: Express][] = [
  ['express 5', express5],
  ['express 4', express4],
];

/** Mounts behind middlewares that the application has put in front. */
export function mountBehind(express: Express, ...middlewares: ReturnType<Express['json']>[]): Mount {
  return (receiver) => {
    const app = express();
    for (const middleware of middlewares) app.use(middleware);
    app.use('/webhooks', toExpress(receiver));
    return listen(app);
  };
}

/** Mounts on an application that `prepare` has furnished. */
export function mountOnFastify(
  prepare: (app: FastifyInstance) => void = () => {},
  options?: FastifyServerOptions,
): Mount {
  return (receiver) => {
    const app = fastify(options);
    prepare(app);
    app.register(toFastify(receiver, { path: '/webhooks' }));
    return listenOnFastify(app);
  };
}

/** Listens as Fastify does, on a server of its own making. */
export async function listenOnFastify(app: FastifyInstance): Promise<Mounted> {
  const address = await app.listen({ port: 0, host: '127.0.0.1' });
  return {
    url: `${address}/webhooks`,
    countConnections: promisify(app.server.getConnections.bind(app.server)),
    close: async () => {
      app.server.closeAllConnections();
      await app.close();
    },
  };
}

/** An application with these middlewares. Koa prints the connections that its senders have cut. */
export function koa(...middlewares: readonly Middleware[]): Koa {
  const app = new Koa();
  app.silent = true;
  for (const middleware of middlewares) app.use(middleware);
  return app;
}

/** Mounts behind middlewares of the application. */
export function mountOnKoa(...middlewares: readonly Middleware[]): Mount {
  return (receiver) => listen(koa(...middlewares, toKoa(receiver, { path: '/webhooks' })).callback());
}

/** Mounts on Hono, behind middlewares of the application. */
export function mountOnHono(...middlewares: ((context: Context) => Promise<unknown>)[]): Mount {
  return (receiver) => {
    const receive = toFetch(receiver);
    const app = new Hono();
    for (const middleware of middlewares) {
      app.use(async (context, next) => {
        await middleware(context);
        await next();
      });
    }
    app.all('/webhooks', (context) => receive(context.req.raw, context));
    return listen(getRequestListener(app.fetch));
  };
}
