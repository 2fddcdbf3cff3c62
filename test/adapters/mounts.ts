import express5 from 'express';
import express4 from 'express-4';
import { toExpress } from 'posthorn/express';
import { toNode } from 'posthorn/node';
import { listen, type Mount } from './endpoint.ts';

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
