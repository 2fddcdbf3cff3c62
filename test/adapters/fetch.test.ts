import type { ServerResponse } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import { type Context, Hono } from 'hono';
import type { Receiver } from 'posthorn';
import { toFetch } from 'posthorn/fetch';
import { afterAll, describe, expect, test } from 'vitest';
import { readJsonOnHono } from './body-readers.ts';
import { ownCases } from './conformance.ts';
import {
  Endpoint,
  expectAccepted,
  expectProblem,
  expectReport,
  Gate,
  listen,
  type Mount,
  signed,
  transfer,
} from './endpoint.ts';
import { mountOnHono } from './mounts.ts';
import { casesFor, onHono } from './our-adapters.ts';
import { headOf, RawConnection } from './raw-connection.ts';

// @hono/node-server puts classes of its own in the place of these.
const originals = { Request: globalThis.Request, Response: globalThis.Response };
afterAll(() => {
  for (const [name, value] of Object.entries(originals))
    Object.defineProperty(globalThis, name, { value, writable: true });
});

const cases = [...casesFor(onHono), ...ownCases(onHono.mount)];
// @hono/node-server does not tell the second request of a pipeline that its sender has hung up.
const UNTOLD = 'connections: a sender that hangs up with a pipeline under way loses none of its events';

describe('toFetch on Hono', () => {
  for (const { name, run } of cases) {
    if (name !== UNTOLD) test(name, run);
  }

  test('the list has the case that is left out, and which is judged by its outcomes here', async () => {
    expect(cases.map(({ name }) => name)).toContain(UNTOLD);
    const gate = new Gate();
    const register = (receiver: Receiver): unknown => receiver.on('transfer.*', () => gate.opened);
    const endpoint = await Endpoint.open(mountOnHono(), { register });
    const connection = await RawConnection.open(endpoint.url);
    for (const { body, headers } of [signed(), signed(), signed()]) {
      connection.write(headOf(endpoint.url, { ...headers, 'content-length': `${body.length}` }) + body);
    }
    await endpoint.arrived(3);
    await connection.hangUp();
    gate.open();
    await endpoint.report(2);
    expect(endpoint.reports.map(({ outcome }) => outcome)).toEqual(Array(3).fill('processed'));
  });

  test.each([0, 300_000])('an answer to %i bytes more is sent before close resolves', async (more) => {
    const gate = new Gate();
    const responses: ServerResponse[] = [];
    const mount: Mount = (receiver) => {
      const receive = toFetch(receiver);
      const app = new Hono().all('/webhooks', (context) => receive(context.req.raw, context));
      const handle = getRequestListener(app.fetch);
      return listen((request, response) => {
        responses.push(response);
        void handle(request, response);
      });
    };
    const register = (receiver: Receiver): unknown => receiver.on('transfer.*', () => gate.opened);
    const endpoint = await Endpoint.open(mount, { register });
    const event = { ...transfer(), data: { note: 'x'.repeat(more) } };
    const answer = endpoint.send(event);
    await endpoint.arrived(1);
    const closed = endpoint.receiver.close();
    gate.open();
    await closed;
    expect(responses.map(({ writableEnded }) => writableEnded)).toEqual([true]);
    expectAccepted(await answer, 'processed', event.id);
  });

  const readers: Record<string, (context: Context) => Promise<unknown>> = {
    'c.req.json()': readJsonOnHono,
    'c.req.text()': (context) => context.req.text(),
    'text() of the request': (context) => context.req.raw.text(),
    'a reader of its own': async (context) => context.req.raw.body?.getReader(),
  };
  for (const [name, reader] of Object.entries(readers)) {
    test(`a body that ${name} has taken is answered 500 at once, with what to move`, async () => {
      const endpoint = await Endpoint.open(mountOnHono(reader));
      const startedAt = performance.now();
      expectProblem(await endpoint.send(transfer()), 500, 'body_already_parsed');
      expect(performance.now() - startedAt).toBeLessThan(2_000);
      const report = await expectReport(endpoint, { outcome: 'failed', code: 'body_already_parsed' });
      expect(report.error?.message).toMatch(/c\.req\.raw in Hono\) before anything calls its json\(\)/);
    });
  }

  test('a body of which a middleware has read a clone is taken as it is', async () => {
    const endpoint = await Endpoint.open(mountOnHono((context) => context.req.raw.clone().text()));
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
