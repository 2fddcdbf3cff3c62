import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect, createServer as createHttp2Server } from 'node:http2';
import { createReceiver } from 'posthorn';
import { type NodeRequest, type NodeResponse, toHealth, toNode } from 'posthorn/node';
import request from 'supertest';
import { describe, expect, onTestFinished, test } from 'vitest';
import { listenUntilTheEnd } from '../support/listen.ts';
import { KEY } from '../support/served.ts';
import { throwing } from '../support/throwing.ts';

function listener() {
  const receiver = createReceiver({ signingKey: KEY }).on('*', () => {});
  const [webhooks, health] = [toNode(receiver, { path: '/webhooks' }), toHealth(receiver)];
  return (incoming: NodeRequest, outgoing: NodeResponse): void => {
    if (incoming.url === '/health') health(incoming, outgoing);
    else webhooks(incoming, outgoing);
  };
}

const cases = [
  ['/webhooks', 405],
  ['/other', 404],
  ['/health', 200],
] as const;

describe('HEAD gets the status and the headers, and no body', () => {
  test.each(cases)('over HTTP/1, where a body would throw: %s', async (path, status) => {
    const url = await listenUntilTheEnd(createServer({ rejectNonStandardBodyWrites: true }, listener()));
    const response = await request(url).head(path);
    expect(response.status).toBe(status);
    expect(response.headers['content-type']).toMatch(/^application\/(problem\+)?json$/);
    expect(Number(response.headers['content-length'])).toBeGreaterThan(0);
  });

  test.each(cases)('over HTTP/2: %s', async (path, status) => {
    const session = connect(await listenUntilTheEnd(createHttp2Server(listener())));
    onTestFinished(() => session.destroy());
    const stream = session.request({ ':method': 'HEAD', ':path': path });
    const [headers] = await once(stream, 'response');
    expect(headers[':status']).toBe(status);
    await once(stream.resume(), 'end');
  });
});

test('a response whose methods throw ends its connection, and not the process, on another path too', async () => {
  const handle = toNode(
    createReceiver({ signingKey: KEY }).on('*', () => {}),
    { path: '/webhooks' },
  );
  const url = await listenUntilTheEnd((incoming, outgoing) => {
    outgoing.writeHead = throwing('replaced');
    handle(incoming, outgoing);
  });
  await expect(fetch(`${url}/other`)).rejects.toThrow('fetch failed');
  await expect(fetch(`${url}/webhooks`)).rejects.toThrow('fetch failed');
});
