import { createServer } from 'node:http';
import { Readable, Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { ConfigurationError, createReceiver } from 'posthorn';
import { type NodeOptions, toNode } from 'posthorn/node';
import request from 'supertest';
import { describe, expect, test } from 'vitest';
import { receiverWithReports } from '../support/receiver-with-reports.ts';
import { throwing } from '../support/throwing.ts';
import { until } from '../support/until.ts';
import { conformance } from './conformance.ts';
import {
  Endpoint,
  expectAccepted,
  expectProblem,
  expectReport,
  KEY,
  listen,
  type Mount,
  signed,
  transfer,
} from './endpoint.ts';
import { mountBehindReader } from './mounts.ts';
import { onNode } from './our-adapters.ts';
import { headOf, RawConnection } from './raw-connection.ts';

describe('toNode on node:http', () => conformance(onNode));

describe('a body that something else has read', () => {
  test.each(['', '{"id":1}'])('%j is answered 500 at once', async (body) => {
    const endpoint = await Endpoint.open(mountBehindReader);
    const startedAt = performance.now();
    expectProblem(await endpoint.send(body), 500, 'body_already_parsed');
    expect(performance.now() - startedAt).toBeLessThan(2_000);
    const report = await expectReport(endpoint, { outcome: 'failed', code: 'body_already_parsed' });
    expect(report.error).toBeInstanceOf(ConfigurationError);
    expect(report.error?.message).toContain('(req.body is not set)');
  });

  test('by the parser of a framework that sets no req.body, as on Koa, is told in words for it', async () => {
    const endpoint = await Endpoint.open((receiver) => {
      const handle = toNode(receiver);
      return listen(async (incoming, response) => {
        // What koa-bodyparser does: ctx.request is an object of Koa beside the request of Node.js.
        const context = { request: { body: JSON.parse(await text(incoming)) }, req: incoming, res: response };
        handle(context.req, context.res);
      });
    });
    expectProblem(await endpoint.send(transfer()), 500, 'body_already_parsed');
    const { error } = await expectReport(endpoint, { outcome: 'failed', code: 'body_already_parsed' });
    expect(error?.message).toMatch(
      /req\.body is not set.*the body parser on Koa, which fills ctx\.request\.body/,
    );
    expect(error?.message).not.toContain('express');
  });

  test('a listener that is still reading does not make it hang', async () => {
    const endpoint = await Endpoint.open((receiver) => {
      const handle = toNode(receiver);
      return listen((incoming, response) => {
        incoming.once('data', () => handle(incoming, response));
      });
    });
    const { body, headers } = signed();
    const connection = await RawConnection.open(endpoint.url);
    connection.write(headOf(endpoint.url, { ...headers, 'content-length': String(body.length) }));
    connection.write(body.slice(0, 10));
    const answer = await connection.answer();
    expectProblem(answer, 500, 'body_already_parsed');
  });

  test('a stream that decodes to text is not taken for bytes', async () => {
    const endpoint = await Endpoint.open((receiver) => {
      const handle = toNode(receiver);
      return listen((incoming, response) => handle(incoming.setEncoding('utf8'), response));
    });
    expectProblem(await endpoint.send(transfer()), 500, 'body_already_parsed');
  });

  test.each([
    ['bytes', (bytes: Buffer): unknown => bytes],
    ['a view of bytes', (bytes: Buffer): unknown => new Uint8Array(bytes)],
    ['text', (bytes: Buffer): unknown => bytes.toString('utf8')],
  ])('a rawBody of %s is taken as it is', async (_, keep) => {
    const endpoint = await Endpoint.open((receiver) => {
      const handle = toNode(receiver);
      return listen(async (incoming, response) => {
        const bytes = Buffer.concat(await incoming.toArray());
        handle(
          Object.assign(incoming, { rawBody: keep(bytes), body: JSON.parse(bytes.toString()) }),
          response,
        );
      });
    });
    const event = { ...transfer(), data: { note: 'Grüße 🎺' } };
    expectAccepted(await endpoint.send(event), 'processed', event.id);
  });
});

test('a response of another library, which cannot be corked, is sent too', async () => {
  const endpoint = await Endpoint.open((receiver) => {
    const handle = toNode(receiver);
    return listen((incoming, response) =>
      handle(incoming, {
        headersSent: false,
        writeHead: (status, headers) => response.writeHead(status, headers),
        write: (chunk) => response.write(chunk),
        end: (chunk?: string) => response.end(chunk),
      }),
    );
  });
  const event = transfer();
  expectAccepted(await endpoint.send(event), 'processed', event.id);
});

test.each([
  ['without next its connection is closed', false],
  ['with next the error goes there', true],
])('a response that throws, because middleware has replaced its methods: %s', async (_, hasNext) => {
  const errors: unknown[] = [];
  const endpoint = await Endpoint.open((receiver) => {
    const handle = toNode(receiver);
    return listen((incoming, response) => {
      response.writeHead = throwing('replaced');
      const next = (error?: unknown): void => {
        errors.push(error);
        response.destroy();
      };
      handle(incoming, response, hasNext ? next : undefined);
    });
  });
  await expect(endpoint.send(transfer())).rejects.toThrow();
  const readInParts = { ...transfer(), data: { note: 'x'.repeat(300_000) } };
  await expect(endpoint.send(readInParts)).rejects.toThrow();
  expect(errors).toEqual(hasNext ? [new Error('replaced'), new Error('replaced')] : []);
});

test('a request without a socket, as of a shim, is destroyed and ends no process', async () => {
  const { receiver } = receiverWithReports();
  const request = Object.assign(Readable.from([]), { method: 'GET', url: '/', rawHeaders: [] });
  Reflect.apply(toNode(receiver), undefined, [request, new Writable()]);
  await until('the end of the request', () => request.destroyed);
});

test('an end that throws, because middleware has replaced it, closes the connection behind a refused body', async () => {
  const endpoint = await Endpoint.open(
    (receiver) => {
      const handle = toNode(receiver);
      return listen((incoming, response) => {
        response.end = throwing('replaced');
        handle(incoming, response);
      });
    },
    { options: { maxBodyBytes: 1_000 } },
  );
  const connection = await RawConnection.open(endpoint.url);
  connection.write(headOf(endpoint.url, { ...signed().headers, 'content-length': '1001' }));
  expectProblem(await connection.answer(), 413, 'body_too_large');
  connection.write('x'.repeat(1_001));
  await connection.closed;
});

test('middleware that takes a list of headers for pairs, as on-headers did before 1.1.0, changes none of them', async () => {
  const withMiddleware: Mount = (receiver) => {
    const handle = toNode(receiver);
    return listen((incoming, response) => {
      const { writeHead } = response;
      const replaced = (status: number, headers: object): unknown => {
        const pairs = Array.isArray(headers) ? headers : Object.entries(headers);
        for (const [name, value] of pairs) response.setHeader(name, value);
        return writeHead.call(response, status);
      };
      handle(incoming, Object.assign(response, { writeHead: replaced }));
    });
  };
  const endpoint = await Endpoint.open(withMiddleware, { options: { maxBodyBytes: 1_000 } });
  const event = transfer();
  expectAccepted(await endpoint.send(event), 'processed', event.id);
  const tooLarge = await endpoint.send('x'.repeat(1_001));
  expectProblem(tooLarge, 413, 'body_too_large');
  expect(tooLarge.headers.get('connection')).toBe('close');
});

describe('the option path', () => {
  function app(options: NodeOptions): ReturnType<typeof createServer> {
    const receiver = createReceiver({ signingKey: KEY }).on('transfer.*', () => {});
    receiver.observe(() => {});
    return createServer(toNode(receiver, options));
  }

  test.each(['/webhooks', '/webhooks/', '/webhooks?', '/webhooks?a=b', '/webhooks?/other'])(
    '%s is served',
    async (path) => {
      const { body, headers } = signed();
      const answer = await request(app({ path: '/webhooks' }))
        .post(path)
        .set(headers)
        .send(body);
      expect([answer.status, answer.body.outcome]).toEqual([200, 'processed']);
    },
  );

  test.each(['/', '/webhooks//', '/webhooks/1', '/WEBHOOKS', '/other?/webhooks'])(
    '%s is not there',
    async (path) => {
      const answer = await request(app({ path: '/webhooks' }))
        .post(path)
        .set(signed().headers)
        .send('{}');
      expect(answer.status).toBe(404);
      expect(answer.headers['content-type']).toBe('application/problem+json');
      expect(JSON.parse(answer.body.toString() === '[object Object]' ? answer.text : answer.body)).toEqual({
        title: expect.stringMatching(/\w/),
        status: 404,
        code: 'not_found',
      });
    },
  );

  test('the absolute form of a request target is served (RFC 9112, section 3.2.2)', async () => {
    const endpoint = await Endpoint.open((receiver) => listen(toNode(receiver, { path: '/webhooks' })));
    const event = transfer();
    const { body, headers } = signed(event);
    const connection = await RawConnection.open(endpoint.url);
    const head = headOf(endpoint.url, { ...headers, 'content-length': String(body.length) });
    connection.write(head.replace('/webhooks', `${endpoint.url}?a=b`) + body);
    expectAccepted(await connection.answer(), 'processed', event.id);
  });

  test('every path is served without it', async () => {
    const { body, headers } = signed();
    const answer = await request(app({})).post('/any/where?at=all').set(headers).send(body);
    expect(answer.status).toBe(200);
  });

  test('another path is left to next, which gets no error and an unread body', async () => {
    const calls: unknown[][] = [];
    const endpoint = await Endpoint.open((receiver) => {
      const handle = toNode(receiver, { path: '/webhooks' });
      return listen((incoming, response) =>
        handle(incoming, response, (...args) => {
          calls.push(args);
          incoming.pipe(response);
        }),
      );
    });
    const answer = await endpoint.request({ method: 'POST', body: 'for others' }, '/other');
    expect([answer.status, answer.body]).toEqual([200, 'for others']);
    expect(calls).toEqual([[]]);
    const event = transfer();
    expectAccepted(await endpoint.send(event), 'processed', event.id);
    expect(calls).toHaveLength(1);
  });
});

test('a body that nothing waits for does not follow a 404 on its connection', async () => {
  const endpoint = await Endpoint.open((receiver) => listen(toNode(receiver, { path: '/webhooks' })));
  const connection = await RawConnection.open(endpoint.url);
  const head = headOf(`${endpoint.url}/other`, { 'content-length': '5000' });
  connection.write(head);
  expect((await connection.answer()).status).toBe(404);
  const event = transfer();
  const { body, headers } = signed(event);
  connection.write('x'.repeat(5_000));
  connection.write(headOf(endpoint.url, { ...headers, 'content-length': String(body.length) }) + body);
  expectAccepted(await connection.answer(), 'processed', event.id);
});

describe('wrong options throw', () => {
  const receiver = createReceiver({ signingKey: KEY });
  const wrong: Record<string, object> = {
    'a path without its slash': { path: 'webhooks' },
    'an empty path': { path: '' },
    'a path with a query': { path: '/webhooks?a' },
    'a path with a fragment': { path: '/webhooks#a' },
    'a path that is not text': { path: /webhooks/ },
    'an unknown option': { route: '/webhooks' },
  };
  for (const [name, options] of Object.entries(wrong)) {
    test(`${name}`, () => {
      const offender = Object.keys(options)[0] ?? '';
      expect(() => toNode(receiver, options)).toThrow(ConfigurationError);
      expect(() => toNode(receiver, options)).toThrow(offender);
    });
  }
});
