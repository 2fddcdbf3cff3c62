import { getRequestListener } from '@hono/node-server';
import { type Context, Hono } from 'hono';
import { toFetch } from 'posthorn/fetch';
import { afterAll, describe, expect, test } from 'vitest';
import { conformance } from './conformance.ts';
import {
  Endpoint,
  expectAccepted,
  expectProblem,
  expectReport,
  listen,
  type Mount,
  transfer,
} from './endpoint.ts';

// @hono/node-server puts classes of its own in the place of these.
const originals = { Request: globalThis.Request, Response: globalThis.Response };
afterAll(() => {
  for (const [name, value] of Object.entries(originals))
    Object.defineProperty(globalThis, name, { value, writable: true });
});

/** Mounts on Hono, behind middlewares of the application. */
function mountBehind(...middlewares: ((context: Context) => Promise<unknown>)[]): Mount {
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

describe('toFetch on Hono', () => {
  conformance(mountBehind());

  const readers: Record<string, (context: Context) => Promise<unknown>> = {
    'c.req.json()': (context) => context.req.json(),
    'c.req.text()': (context) => context.req.text(),
    'text() of the request': (context) => context.req.raw.text(),
    'a reader of its own': async (context) => context.req.raw.body?.getReader(),
  };
  for (const [name, reader] of Object.entries(readers)) {
    test(`a body that ${name} has taken is answered 500 at once, with what to move`, async () => {
      const endpoint = await Endpoint.open(mountBehind(reader));
      const startedAt = performance.now();
      expectProblem(await endpoint.send(transfer()), 500, 'body_already_parsed');
      expect(performance.now() - startedAt).toBeLessThan(2_000);
      const report = await expectReport(endpoint, { outcome: 'failed', code: 'body_already_parsed' });
      expect(report.error?.message).toMatch(/c\.req\.raw in Hono\) before anything calls its json\(\)/);
    });
  }

  test('a body of which a middleware has read a clone is taken as it is', async () => {
    const endpoint = await Endpoint.open(mountBehind((context) => context.req.raw.clone().text()));
    const event = transfer();
    expectAccepted(await endpoint.send(event), 'processed', event.id);
  });

  test('mounted as an application, it has its own paths, and leaves others to Hono', async () => {
    const endpoint = await Endpoint.open((receiver) => {
      const app = new Hono().mount('/webhooks', toFetch(receiver));
      return listen(getRequestListener(app.fetch));
    });
    const event = transfer();
    expectAccepted(await endpoint.send(event), 'processed', event.id);
    expect((await fetch(new URL('/other', endpoint.url), { method: 'POST' })).status).toBe(404);
    expect(endpoint.reports).toHaveLength(1);
  });
});
