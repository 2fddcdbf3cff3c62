import { once } from 'node:events';
import { request as openRequest, type RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { createServer as createSocketServer } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import express from 'express';
import fastify from 'fastify';
import { createReceiver, type Receiver, type ReceiverOptions } from 'posthorn';
import { toExpress } from 'posthorn/express';
import { toNode } from 'posthorn/node';
import { onTestFinished } from 'vitest';
import { listenUntilTheEnd } from '../support/listen.ts';
import { selfSigned } from '../support/self-signed.ts';
import { KEY } from '../support/served.ts';

export type Options = Partial<ReceiverOptions<Record<never, never>>>;

function receiverWith(options: Options = {}): Receiver {
  const receiver = createReceiver({ signingKey: KEY, ...options }).on('*', () => {});
  receiver.observe(() => {});
  return receiver;
}

/** Serves on a free port until the test ends; resolves with the address of its webhooks. */
export async function listen(listener: RequestListener): Promise<string> {
  return `${await listenUntilTheEnd(listener)}/webhooks`;
}

/** Serves a receiver with a handler for everything. */
export const serveReceiver = (options?: Options): Promise<string> => listen(toNode(receiverWith(options)));

/** A server that never looks at the request. */
export const answerWith = (status: number, headers: Record<string, string> = {}): Promise<string> =>
  listen((_request, response) => response.writeHead(status, headers).end('<h1>\u001b[31mNo</h1>'));

const withPath = (url: string, path: string): string => new URL(path, url).href;

/** A proxy that changes requests on their way to a receiver. */
async function proxyThat(change: (body: Buffer, headers: Record<string, string>) => Buffer): Promise<string> {
  const target = await serveReceiver();
  return listen(async (incoming, response) => {
    const headers = Object.fromEntries(
      Object.entries(incoming.headersDistinct).map(([name, values = []]) => [name, values.join()]),
    );
    const body = change(await buffer(incoming), headers);
    headers['content-length'] = String(body.length);
    const outgoing = openRequest(target, { method: 'POST', headers, agent: false });
    outgoing.end(body);
    const [answer] = await once(outgoing, 'response');
    response.writeHead(answer.statusCode, answer.headers).end(await buffer(answer));
  });
}

async function serveFastifyWithoutJson(): Promise<string> {
  const app = fastify();
  app.removeContentTypeParser('application/json');
  app.post('/webhooks', () => 'ok');
  onTestFinished(() => app.close());
  return `${await app.listen({ port: 0, host: '127.0.0.1' })}/webhooks`;
}

/** Servers that refuse a delivery, by the reason. */
export const servers: Readonly<Record<string, () => Promise<string>>> = {
  'no mount at the path on Express': async () =>
    withPath(
      await listen(express().use(toExpress(receiverWith(), { path: '/webhooks' }))),
      '/hooks?token=hidden',
    ),
  'no mount at the path on Node.js': async () =>
    withPath(await listen(toNode(receiverWith(), { path: '/webhooks' })), '/hooks?token=hidden'),
  'a route for GET alone': () => answerWith(405, { allow: 'GET' }),
  'a proxy that compresses': () =>
    proxyThat((body, headers) => {
      headers['content-encoding'] = 'gzip';
      return gzipSync(body);
    }),
  'a framework without a parser': serveFastifyWithoutJson,
  'a receiver with credentials': () =>
    serveReceiver({ authentication: { type: 'BEARER', bearer: { token: 'right' } } }),
  'a login': () => answerWith(401),
  'protection against CSRF': () => answerWith(403),
  'another key': () => serveReceiver({ signingKey: 'another' }),
  'another header': () => serveReceiver({ signatureHeader: 'x-vendor-signature' }),
  'a header that holds something else': () => serveReceiver({ signatureHeader: 'content-type' }),
  'a small limit': () => serveReceiver({ maxBodyBytes: 10 }),
  'a body parser with a small limit': () =>
    listen(
      express()
        .use(express.json({ limit: 10 }))
        .use(toExpress(receiverWith(), { path: '/webhooks' })),
    ),
  'a body parser': () =>
    listen(
      express()
        .use(express.json())
        .use(toExpress(receiverWith(), { path: '/webhooks' })),
    ),
  'no handler': () => listen(toNode(createReceiver({ signingKey: KEY }).observe(() => {}))),
  'a clock that is behind': () => serveReceiver({ now: () => Date.now() - 600_000 }),
  'a clock that is ahead': () => serveReceiver({ now: () => Date.now() + 864_000_000 }),
  'a limit on requests': () => answerWith(429),
  'a proxy alone': () => answerWith(502),
  'a redirect': () => answerWith(308, { location: 'https://example.com/' }),
  'an error of something else': () => answerWith(500),
};

/** A server that ends each connection once the request has begun to come. */
export async function openSilent(): Promise<string> {
  const server = createSocketServer((socket) =>
    socket.on('error', () => {}).once('data', () => socket.destroy()),
  );
  return `${await listenUntilTheEnd(server)}/`;
}

/** A receiver behind a certificate that nobody trusts. */
export async function openUntrusted(): Promise<string> {
  return `${await listenUntilTheEnd(createTlsServer(selfSigned(), toNode(receiverWith())))}/`;
}
