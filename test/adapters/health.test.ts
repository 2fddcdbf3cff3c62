import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { connect, createServer as createHttp2Server } from 'node:http2';
import { text } from 'node:stream/consumers';
import express from 'express';
import {
  ConfigurationError,
  createMemoryStore,
  createReceiver,
  type Receiver,
  type ReceiverOptions,
  type Store,
} from 'posthorn';
import { toHealth, toNode } from 'posthorn/node';
import { createEvent, deliver } from 'posthorn/testing';
import { describe, expect, onTestFinished, test } from 'vitest';
import { listenUntilTheEnd } from '../support/listen.ts';
import { createMapDeadLetters } from '../support/map-dead-letters.ts';
import { createMapJournal } from '../support/map-journal.ts';
import { KEY } from '../support/served.ts';
import { throwing } from '../support/throwing.ts';

const SECRET = 'redis://:hunter2@10.1.2.3:6379';

class LostStore implements Store {
  readonly #store = createMemoryStore();
  isLost = false;
  readonly claim: Store['claim'] = (request) => this.#store.claim(request);
  readonly renew: Store['renew'] = (request) => this.#store.renew(request);
  readonly complete: Store['complete'] = (request) => this.#store.complete(request);
  readonly release: Store['release'] = (request) => {
    if (this.isLost) throw new Error(`connect ECONNREFUSED ${SECRET}`);
    return this.#store.release(request);
  };
}

function create(options: Partial<ReceiverOptions> = {}): Receiver {
  return createReceiver({ signingKey: KEY, ...options })
    .observe(() => {})
    .on('*', () => {});
}

/** The receiver beside its health, as an application has them. */
function serveBoth(receiver: Receiver): Promise<string> {
  const [health, webhooks] = [toHealth(receiver), toNode(receiver, { path: '/webhooks' })];
  return listenUntilTheEnd((request, response) =>
    request.url === '/health' ? health(request, response) : webhooks(request, response),
  );
}

describe('toHealth', () => {
  test('answers 200 with what the receiver says, and nothing keeps it', async () => {
    const url = await serveBoth(create({ deadLetters: createMapDeadLetters() }));
    const before = await fetch(`${url}/health`);
    expect([before.status, before.headers.get('content-type'), before.headers.get('cache-control')]).toEqual([
      200,
      'application/json',
      'no-store',
    ]);
    expect(await before.json()).toEqual({
      ok: true,
      closing: false,
      store: { ok: true, latencyMs: expect.any(Number) },
      running: 0,
      deadLetters: { ok: true, waiting: 0, more: false },
    });
    await deliver(`${url}/webhooks`, createEvent('transfer.created'), { key: KEY });
    expect(await (await fetch(`${url}/health`)).json()).toMatchObject({
      lastDelivery: { receivedAt: expect.stringMatching(/^20\d\d-.*Z$/), outcome: 'processed' },
    });
  });

  test('without the store it answers 503 and why, without a message; 200 once it is back', async () => {
    const store = new LostStore();
    const url = `${await serveBoth(create({ store }))}/health`;
    store.isLost = true;
    const lost = await fetch(url);
    const body = await lost.text();
    expect(lost.status).toBe(503);
    expect(JSON.parse(body)).toMatchObject({
      ok: false,
      store: { ok: false, code: 'store_unavailable', failingSince: expect.stringMatching(/Z$/) },
    });
    expect(body).not.toMatch(/hunter2|10\.1\.2\.3|ECONNREFUSED/);
    store.isLost = false;
    expect((await fetch(url)).status).toBe(200);
  });

  test('letters that wait, and dead letters that fail, are figures: 200', async () => {
    const deadLetters = createMapDeadLetters();
    const receiver = create({ deadLetters });
    const url = await serveBoth(receiver);
    await deliver(`${url}/webhooks`, 'not JSON', { key: KEY });
    const waiting = await fetch(`${url}/health`);
    expect([waiting.status, await waiting.json()]).toMatchObject([200, { deadLetters: { waiting: 1 } }]);
    deadLetters.list = throwing(new Error(SECRET));
    const failing = await fetch(`${url}/health`);
    const body = await failing.text();
    expect([failing.status, JSON.parse(body).deadLetters]).toEqual([
      200,
      { ok: false, more: true, code: 'dead_letters_unavailable' },
    ]);
    expect(body).not.toContain('hunter2');
  });

  test('a journal that fails is a figure, without its message: 200', async () => {
    const journal = { ...createMapJournal(), record: throwing(new Error(SECRET)) };
    const receiver = create({ journal });
    const url = await serveBoth(receiver);
    const fine = { ok: true, waiting: 0, leftOut: { bodies: 0, entries: 0 } };
    expect(await (await fetch(`${url}/health`)).json()).toMatchObject({ journal: fine });
    await deliver(`${url}/webhooks`, createEvent('transfer.created'), { key: KEY });
    await expect.poll(async () => (await receiver.health()).journal?.ok).toBe(false);
    const failing = await fetch(`${url}/health`);
    const body = await failing.text();
    expect([failing.status, JSON.parse(body)]).toMatchObject([
      200,
      {
        ok: true,
        journal: {
          ...fine,
          ok: false,
          waiting: 1,
          code: 'journal_unavailable',
          failingSince: expect.stringMatching(/Z$/),
        },
      },
    ]);
    expect(body).not.toMatch(/hunter2|10\.1\.2\.3/);
  });

  test('a letter of a foreign place may have been parked at no time', async () => {
    const deadLetters = createMapDeadLetters();
    const receiver = create({ deadLetters });
    const url = await serveBoth(receiver);
    await deliver(`${url}/webhooks`, 'not JSON', { key: KEY });
    for await (const letter of deadLetters.list()) await deadLetters.put({ ...letter, parkedAt: Number.NaN });
    expect(await (await fetch(`${url}/health`)).json()).toMatchObject({
      deadLetters: { ok: true, waiting: 1 },
    });
  });

  test('answers 503 from the moment that close is called', async () => {
    const receiver = create();
    const url = await serveBoth(receiver);
    const closed = receiver.close();
    const response = await fetch(`${url}/health`);
    expect([response.status, await response.json()]).toMatchObject([503, { ok: false, closing: true }]);
    await closed;
    expect((await fetch(`${url}/health`)).status).toBe(503);
  });

  test('HEAD gets the same head and no body; other methods get 405', async () => {
    const url = `${await serveBoth(create())}/health`;
    const head = await fetch(url, { method: 'HEAD' });
    expect([head.status, head.headers.get('content-type'), await head.text()]).toEqual([
      200,
      'application/json',
      '',
    ]);
    for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS']) {
      const body = method === 'POST' || method === 'PUT' ? 'x'.repeat(100_000) : null;
      const response = await fetch(url, { method, body });
      expect([response.status, response.headers.get('allow')], method).toEqual([405, 'GET, HEAD']);
      expect(await response.json()).toMatchObject({ status: 405, code: 'method_not_allowed' });
    }
  });

  test('is not a delivery: handlers can be registered after it', async () => {
    const receiver = createReceiver({ signingKey: KEY }).observe(() => {});
    const url = await serveBoth(receiver);
    await fetch(`${url}/health`);
    receiver.on('transfer.created', () => {});
    const response = await deliver(`${url}/webhooks`, createEvent('transfer.created'), { key: KEY });
    expect(await response.json()).toMatchObject({ outcome: 'processed' });
  });

  test('mounts on Express as a route', async () => {
    const app = express();
    app.get('/health', toHealth(create()));
    const url = await listenUntilTheEnd(app);
    expect((await fetch(`${url}/health`)).status).toBe(200);
    expect((await fetch(`${url}/health`, { method: 'HEAD' })).status).toBe(200);
  });

  test('answers GET and HEAD on HTTP/2', async () => {
    const health = toHealth(create());
    const server = createHttp2Server((request, response) => health(request, response));
    const session = connect(await listenUntilTheEnd(server));
    onTestFinished(() => session.destroy());
    for (const method of ['GET', 'HEAD']) {
      const stream = session.request({ ':method': method, ':path': '/' });
      const [headers] = await once(stream, 'response');
      expect([headers[':status'], (await text(stream)) === ''], method).toEqual([200, method === 'HEAD']);
    }
  });

  test('adds nothing if another listener has answered meanwhile', async () => {
    const receiver = create();
    const url = await listenUntilTheEnd((request: IncomingMessage, response: ServerResponse) => {
      toHealth(receiver)(request, response);
      response.writeHead(504).end('too late');
    });
    const response = await fetch(url);
    expect([response.status, await response.text()]).toEqual([504, 'too late']);
  });

  test('closes the connection if the response throws, because middleware has replaced its methods', async () => {
    const health = toHealth(create());
    const url = await listenUntilTheEnd((request, response) => {
      response.writeHead = throwing('replaced');
      health(request, response);
    });
    await expect(fetch(url)).rejects.toThrow();
    await expect(fetch(url, { method: 'POST', body: 'x'.repeat(300_000) })).rejects.toThrow();
  });

  test('takes receivers only', () => {
    for (const value of [undefined, {}, { receive: () => {} }]) {
      expect(() => Reflect.apply(toHealth, undefined, [value])).toThrow(ConfigurationError);
    }
  });
});
