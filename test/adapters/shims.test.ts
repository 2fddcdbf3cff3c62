import { createServer, IncomingMessage, type RequestListener, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';
import fastify from 'fastify';
import Koa from 'koa';
import type { Receiver } from 'posthorn';
import { toExpress } from 'posthorn/express';
import { toFastify } from 'posthorn/fastify';
import { toKoa } from 'posthorn/koa';
import { OnWebhook, PosthornModule } from 'posthorn/nestjs';
import { toNode } from 'posthorn/node';
import { adapterConformance, createEvent, deliver, signedHeaders } from 'posthorn/testing';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createApplication } from '../nestjs/server.ts';
import { startServer, stopServer } from '../support/listen.ts';
import { createMapDeadLetters } from '../support/map-dead-letters.ts';
import { receiverWithReports } from '../support/receiver-with-reports.ts';
import { KEY } from '../support/served.ts';
import { until } from '../support/until.ts';
import type { Mountable } from './endpoint.ts';
import { expressVersions } from './mounts.ts';

// A shim makes a request of Node.js out of an event, without a connection.

const joined = ({ headersDistinct }: IncomingMessage): [name: string, value: string][] =>
  Object.entries(headersDistinct).map(([name, values = []]) => [name, values.join(', ')]);

const withLength = (value: string, name: string): unknown =>
  name === 'content-length' ? Number(value) : value;

/** The headers that shims fill. */
const shims: Readonly<Record<string, (incoming: IncomingMessage) => Record<string, unknown>>> = {
  'headers, as serverless-http does': (incoming) => ({
    headers: Object.fromEntries(joined(incoming).map(([name, value]) => [name, withLength(value, name)])),
  }),
  'headers with lists of values': ({ headersDistinct }) => ({ headers: headersDistinct }),
  'rawHeaders with a number, as serverless-express does': (incoming) => ({
    headers: Object.fromEntries(joined(incoming)),
    rawHeaders: joined(incoming).flatMap(([name, value]) => [name, withLength(value, name)]),
  }),
  'headers, and has neither rawHeaders nor a socket': (incoming) => ({
    headers: Object.fromEntries(joined(incoming)),
    rawHeaders: undefined,
    socket: undefined,
  }),
};

/** The response of a shim: a list of names and values is an object with the names 0, 1, 2, … to it. */
class ShimResponse extends ServerResponse {
  override writeHead(status: number, headers?: unknown): this {
    for (const [name, value] of Object.entries<string>(Object(headers))) this.setHeader(name, value);
    return super.writeHead(status);
  }
}

/** Serves a listener behind a shim. */
async function serveBehind(
  shim: (incoming: IncomingMessage) => Record<string, unknown>,
  listener: RequestListener,
) {
  const server = createServer({ ServerResponse: ShimResponse }, async (incoming, response) => {
    const body = await buffer(incoming).catch(() => undefined);
    const { method, url } = incoming;
    const request = Object.assign(new IncomingMessage(new Socket()), { method, url, complete: true, body });
    request._read = () => void request.push(null);
    for (const [name, value] of Object.entries(shim(incoming)))
      Object.defineProperty(request, name, { value, writable: true });
    if (body !== undefined) listener(request, response);
  });
  return { url: `${await startServer(server)}/webhooks`, close: () => stopServer(server) };
}

/** The cases of the conformance in which headers decide, or in which an answer has them. */
const OF_HEADERS =
  /^(accepted: (an event wh|any of)|405: (GET|HEAD)|401: [nt]|403: a sig|repeated|header |503: cl)/;

describe.each(Object.entries(shims))('toNode behind a shim that fills %s', (_, shim) => {
  const serve = (receiver: Mountable) => serveBehind(shim, toNode(receiver));
  const cases = adapterConformance(serve, { foldsRepeatedHeaders: true, wholeBodiesOnly: true });
  test.each(cases.filter(({ name }) => OF_HEADERS.test(name)))('$name', ({ run }) => run());
});

const path = '/webhooks';
const frameworks: Readonly<Record<string, (receiver: Receiver) => Promise<RequestListener>>> = {
  ...Object.fromEntries(
    expressVersions.map(([name, express]) => [
      name,
      async (receiver: Receiver) => express().use(toExpress(receiver, { path })),
    ]),
  ),
  koa: async (receiver) => new Koa().use(toKoa(receiver, { path })).callback(),
  fastify: async (receiver) => {
    const app = fastify();
    await app.register(toFastify(receiver, { path })).ready();
    return (request, response) => app.routing(request, response);
  },
  'NestJS on Express': async () => {
    const module = PosthornModule.forRoot({ path, signingKey: KEY, deadLetters: createMapDeadLetters() });
    const app = await createApplication({ imports: [module], providers: [Booking] });
    await app.init();
    return (request, response) => app.getHttpServer().emit('request', request, response);
  },
};

class Booking {
  @OnWebhook('*')
  book(): void {}
}

test.each(
  Object.entries(frameworks).flatMap(([name, listen]) =>
    Object.entries(shims).map(([fields, shim]) => ({ name, listen, fields, shim })),
  ),
)('$name behind a shim that fills $fields', async ({ name, listen, shim }) => {
  const { receiver, reports } = receiverWithReports();
  const { url, close } = await serveBehind(shim, await listen(receiver));
  onTestFinished(close);
  const event = createEvent('transfer.succeeded');
  expect((await deliver(url, event, { key: KEY })).status).toBe(200);
  const { 'x-service-signature': sent = '' } = signedHeaders(JSON.stringify(event), { key: KEY });
  const twice = { 'x-service-signature': `${sent}, ${sent}` };
  const refused = await deliver(url, event, { key: KEY, headers: twice });
  expect([refused.status, await refused.json()]).toMatchObject([403, { code: 'signature_malformed' }]);
  // Fastify routes by itself, and the parsers of NestJS read what is for others.
  if (!/^(express|koa)/.test(name)) return;
  expect((await deliver(url.replace('webhooks', 'other'), event, { key: KEY })).status).toBe(404);
  await until('its report', () => reports.at(-1)?.code === 'not_found');
});
