import { promisify } from 'node:util';
import express5 from 'express';
import express4 from 'express-4';
import type { FastifyInstance } from 'fastify';
import { toExpress } from 'posthorn/express';
import { toNode } from 'posthorn/node';
import { listen, type Mount, type Mounted } from './endpoint.ts';

type Express = typeof express5;

export const mountOnNode: Mount = (receiver) => listen(toNode(receiver));

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
