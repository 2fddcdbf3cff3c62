import type { IncomingMessage, ServerResponse } from 'node:http';
import { createReceiver, type Report } from 'posthorn';
import { toNode } from 'posthorn/node';
import { createEvent, deliver, signedHeaders } from 'posthorn/testing';
import { describe, expect, onTestFinished, test } from 'vitest';
import { listenUntilTheEnd } from '../support/listen.ts';
import { KEY } from '../support/served.ts';
import { until } from '../support/until.ts';
import { headOf, RawConnection } from './raw-connection.ts';

describe('a listener that hears the body before the receiver does', () => {
  /** Serves a receiver behind middleware that counts bytes. */
  async function listen(listen: (request: IncomingMessage, count: (bytes: number) => void) => void) {
    let counted = 0;
    const handled: string[] = [];
    const receiver = createReceiver({ signingKey: KEY }).on('*', (event) => {
      handled.push(event.id);
    });
    const handle = toNode(receiver);
    const url = await listenUntilTheEnd((request, response) => {
      listen(request, (bytes) => {
        counted += bytes;
      });
      handle(request, response);
    });
    return { url, handled, counted: () => counted };
  }

  const countData = (request: IncomingMessage, count: (bytes: number) => void) => {
    request.on('data', (chunk: Buffer) => count(chunk.length));
  };

  test.each([0, 50_000, 300_000])('takes nothing from it, in a body with %i bytes more', async (more) => {
    const { url, handled, counted } = await listen(countData);
    const event = createEvent('transfer.succeeded', { data: { note: 'x'.repeat(more) } });
    for (let sent = 1; sent <= 2; sent += 1) {
      expect(await deliver(url, event, { key: KEY })).toMatchObject({ status: 200 });
      expect(counted()).toBe(sent * Buffer.byteLength(JSON.stringify(event)));
    }
    expect(handled).toEqual([event.id]);
  });

  test('takes nothing from a body in chunks', async () => {
    const { url, handled, counted } = await listen(countData);
    const body = JSON.stringify(createEvent('transfer.succeeded'));
    const parts = new ReadableStream({
      async start(controller) {
        for (const part of [body.slice(0, 50), body.slice(50)]) controller.enqueue(Buffer.from(part));
        controller.close();
      },
    });
    const headers = signedHeaders(body, { key: KEY });
    const { status } = await fetch(url, { method: 'POST', headers, body: parts, duplex: 'half' });
    expect(status).toBe(200);
    expect(handled).toHaveLength(1);
    expect(counted()).toBe(Buffer.byteLength(body));
  });

  test.each([0, 300_000])('that decodes a body with %i bytes more to text has it refused', async (more) => {
    let isDecoded = false;
    const { url, handled } = await listen((request) => {
      const decode = (): void => {
        request.setEncoding('utf8');
        isDecoded = true;
      };
      request.on('newListener', (name) => void (name === 'data' && queueMicrotask(decode)));
    });
    const body = JSON.stringify(createEvent('transfer.succeeded', { data: { note: 'x'.repeat(more) } }));
    const connection = await RawConnection.open(url);
    const headers = { ...signedHeaders(body, { key: KEY }), 'content-length': String(body.length) };
    connection.write(headOf(url, headers));
    await until('the reading to begin', () => isDecoded);
    const answer = await connection.write(body).answer();
    expect([answer.status, JSON.parse(answer.body)]).toMatchObject([500, { code: 'body_already_parsed' }]);
    expect(handled).toEqual([]);
  });

  test('that has paused the request does not hang it', async () => {
    const { url, handled } = await listen((request) => request.pause());
    const large = createEvent('transfer.succeeded', { data: { note: 'x'.repeat(300_000) } });
    for (const event of [createEvent('transfer.succeeded'), large]) {
      expect(await deliver(url, event, { key: KEY })).toMatchObject({ status: 200 });
    }
    expect(handled).toHaveLength(2);
  });
});

test('a function that a library has put on Object.prototype becomes no header, in any form of a response', async () => {
  Object.assign(Object.prototype, { isEmpty: () => false });
  onTestFinished(() => void Reflect.deleteProperty(Object.prototype, 'isEmpty'));
  const reports: Report[] = [];
  const receiver = createReceiver({ signingKey: KEY }).on('*', () => {});
  const handle = toNode(receiver.observe((report) => reports.push(report)));
  const replaced = (request: IncomingMessage, response: ServerResponse): void =>
    handle(request, Object.assign(response, { writeHead: response.writeHead.bind(response) }));
  for (const url of [await listenUntilTheEnd(handle), await listenUntilTheEnd(replaced)]) {
    const answer = await deliver(url, createEvent('transfer.succeeded'), { key: KEY });
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/json']);
    expect(reports.pop()).toMatchObject({ outcome: 'processed', status: 200, answerSent: true });
  }
});
