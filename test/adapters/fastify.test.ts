import { once } from 'node:events';
import { request } from 'node:http';
import { connect } from 'node:http2';
import { buffer, text } from 'node:stream/consumers';
import fastify, { type FastifyInstance } from 'fastify';
import { ConfigurationError, createReceiver } from 'posthorn';
import { toFastify } from 'posthorn/fastify';
import { createEvent, deliver, signedHeaders } from 'posthorn/testing';
import { describe, expect, onTestFinished, test } from 'vitest';
import { HeldHandler } from '../support/held-handler.ts';
import { readBeforePlugin } from './body-readers.ts';
import { conformance } from './conformance.ts';
import {
  Endpoint,
  expectAccepted,
  expectProblem,
  expectReport,
  KEY,
  type Mount,
  signed,
  transfer,
} from './endpoint.ts';
import { listenOnFastify, mountOnFastify } from './mounts.ts';
import { onFastify } from './our-adapters.ts';

describe('toFastify', () => conformance(onFastify));

function create() {
  return createReceiver({ signingKey: KEY })
    .on('*', () => {})
    .observe(() => {});
}

describe('what Fastify does to bodies', () => {
  test.each([
    'application/json; charset=latin1',
    'image/png',
    'no type',
    'a/b/c;;',
    '',
    'multipart/form-data',
  ])('the content type "%s" is served', async (type) => {
    const endpoint = await Endpoint.open(mountOnFastify());
    const event = transfer();
    expectAccepted(await endpoint.send(event, { 'content-type': type }), 'processed', event.id);
  });

  test('its bodyLimit does not stand before maxBodyBytes', async () => {
    const endpoint = await Endpoint.open(mountOnFastify(undefined, { bodyLimit: 10 }));
    const event = transfer();
    expectAccepted(await endpoint.send(event), 'processed', event.id);
    const large = createEvent('transfer.succeeded', { tags: { note: 'x'.repeat(1_048_576) } });
    expectProblem(await endpoint.send(large), 413, 'body_too_large');
  });

  test('an empty body, also without a content type, is refused by the receiver', async () => {
    const endpoint = await Endpoint.open(mountOnFastify());
    expectProblem(await endpoint.send(''), 400, 'body_not_json');
    const headers = signedHeaders('', { key: KEY });
    delete headers['content-type'];
    expectProblem(await endpoint.request({ method: 'POST', headers }), 400, 'body_not_json');
  });

  test('other routes keep their parsers, in the same scope and in others', async () => {
    let url = '';
    const mount: Mount = async (receiver) => {
      const app = fastify();
      app.post('/before', async ({ body }) => body);
      app.register(async (scope) => {
        scope.addContentTypeParser('text/csv', { parseAs: 'string' }, async (_: unknown, csv: string) =>
          csv.split(','),
        );
        scope.register(toFastify(receiver, { path: '/webhooks' }));
        scope.post('/beside', async ({ body }) => body);
      });
      const mounted = await listenOnFastify(app);
      url = mounted.url;
      return mounted;
    };
    const endpoint = await Endpoint.open(mount);
    const post = async (path: string, type: string, body: string) => {
      const headers = { 'content-type': type };
      const response = await fetch(new URL(path, url), { method: 'POST', headers, body });
      return [response.status, await response.json()];
    };
    expect(await post('/before', 'application/json', '{"a":1}')).toEqual([200, { a: 1 }]);
    expect(await post('/beside', 'application/json', '{"a":1}')).toEqual([200, { a: 1 }]);
    expect(await post('/beside', 'text/csv', 'a,b')).toEqual([200, ['a', 'b']]);
    expect(await post('/before', 'text/csv', 'a,b')).toMatchObject([415, {}]);
    const event = transfer();
    expectAccepted(await endpoint.send(event, { 'content-type': 'text/csv' }), 'processed', event.id);
  });

  test('a parser of the application for every type does not run', async () => {
    let parsed = 0;
    const endpoint = await Endpoint.open(
      mountOnFastify((app) => {
        app.removeAllContentTypeParsers();
        app.addContentTypeParser('*', { parseAs: 'buffer' }, async (_: unknown, body: Buffer) => {
          parsed += 1;
          return JSON.parse(body.toString());
        });
      }),
    );
    const event = transfer();
    expectAccepted(await endpoint.send(event), 'processed', event.id);
    expect(parsed).toBe(0);
  });

  test('a body that a preParsing hook has read is answered 500, with what to move', async () => {
    const endpoint = await Endpoint.open(mountOnFastify(readBeforePlugin));
    expectProblem(await endpoint.send(transfer()), 500, 'body_already_parsed');
    const { error } = await expectReport(endpoint, { outcome: 'failed', code: 'body_already_parsed' });
    expect(error).toBeInstanceOf(ConfigurationError);
    expect(error?.message).toContain('a preParsing hook on Fastify');
  });

  test('the bytes that such a hook has kept in request.raw.rawBody are taken', async () => {
    const endpoint = await Endpoint.open(
      mountOnFastify((app) => {
        app.addHook('preParsing', async ({ raw }, _reply, payload) => {
          Object.assign(raw, { rawBody: await buffer(payload) });
          return payload;
        });
      }),
    );
    const event = transfer();
    expectAccepted(await endpoint.send(event), 'processed', event.id);
  });
});

describe('what Fastify has around a request', () => {
  test('hooks before the body and after the answer run, with what they set and see; others do not', async () => {
    const seen: unknown[] = [];
    const endpoint = await Endpoint.open(
      mountOnFastify((app) => {
        app.addHook('onRequest', async (_request, reply) => {
          reply.header('x-request-id', 'one').headers({ 'content-type': 'text/html', vary: ['a', 'b'] });
        });
        for (const name of ['preValidation', 'preHandler'] as const)
          app.addHook(name, async () => void seen.push(name));
        app.addHook('onSend', async () => void seen.push('onSend'));
        app.addHook('onResponse', async (_request, reply) => void seen.push(reply.statusCode));
      }),
    );
    const event = transfer();
    const answer = await endpoint.send(event);
    expectAccepted(answer, 'processed', event.id);
    expect(answer.headers.get('x-request-id')).toBe('one');
    expect(answer.headers.get('vary')).toBe('a, b');
    expectProblem(await endpoint.send(event, { 'x-service-signature': 'x' }), 403, 'signature_malformed');
    await expect.poll(() => seen).toEqual([200, 403]);
  });

  test('a hook that answers keeps deliveries away, as any route', async () => {
    const endpoint = await Endpoint.open(
      mountOnFastify((app) => app.addHook('onRequest', async (_request, reply) => reply.code(429).send({}))),
    );
    expect(await endpoint.send(transfer())).toMatchObject({ status: 429 });
    expect(endpoint.reports).toEqual([]);
  });

  test('its log has the status', async () => {
    const lines: { msg: string; res?: { statusCode: number } }[] = [];
    const stream = { write: (line: string) => void lines.push(JSON.parse(line)) };
    const endpoint = await Endpoint.open(mountOnFastify(undefined, { logger: { stream } }));
    await endpoint.send(transfer());
    await expect
      .poll(() => lines)
      .toContainEqual(expect.objectContaining({ msg: 'request completed', res: { statusCode: 200 } }));
    expect(lines.filter(({ msg }) => /error|already/.test(msg))).toEqual([]);
  });

  test('every method that Fastify knows gets its 405 of the receiver', async () => {
    const endpoint = await Endpoint.open(mountOnFastify());
    for (const method of ['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'QUERY']) {
      const answer = await endpoint.request({ method });
      expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'POST']);
    }
    const options = await Endpoint.open(mountOnFastify(undefined, { exposeHeadRoutes: false }));
    expect(await options.request({ method: 'HEAD' })).toMatchObject({ status: 405 });
  });

  test('handlerTimeout does not answer while the body is on its way', async () => {
    const endpoint = await Endpoint.open(mountOnFastify(undefined, { handlerTimeout: 1 }));
    const event = transfer();
    const { body, headers } = signed(event);
    const sending = request(endpoint.url, { method: 'POST', headers });
    const answered = once(sending, 'response');
    sending.write(body.slice(0, 1));
    await endpoint.arrived(1);
    // Fastify has set its timer before, so that it runs out first.
    await new Promise((resolve) => setTimeout(resolve, 20));
    sending.end(body.slice(1));
    const [response] = await answered;
    expect([response.statusCode, JSON.parse(await text(response))]).toEqual([
      200,
      { outcome: 'processed', id: event.id },
    ]);
  });

  test('app.inject gets the whole answer', async () => {
    const app = fastify().register(toFastify(create(), { path: '/webhooks' }));
    onTestFinished(() => app.close());
    const event = transfer();
    const { body, headers } = signed(event);
    for (const outcome of ['processed', 'duplicate']) {
      const answer = await app.inject({ method: 'POST', url: '/webhooks', headers, body });
      expect([answer.statusCode, answer.json()]).toEqual([200, { outcome, id: event.id }]);
      expect(answer.headers['content-type']).toBe('application/json');
    }
    const forged = await app.inject({ method: 'POST', url: '/webhooks', headers, body: `${body} ` });
    expect([forged.statusCode, forged.json().code]).toEqual([403, 'signature_mismatch']);
    expect((await app.inject({ method: 'GET', url: '/webhooks' })).statusCode).toBe(405);
  });

  test('HTTP/2 is served', async () => {
    const app = fastify({ http2: true });
    app.register(toFastify(create(), { path: '/webhooks' }));
    const session = connect(await app.listen({ port: 0, host: '127.0.0.1' }));
    onTestFinished(async () => {
      session.destroy();
      await app.close();
    });
    const { body, headers } = signed();
    const send = async (sent: Record<string, string>): Promise<[unknown, unknown]> => {
      const stream = session.request({ ':method': 'POST', ':path': '/webhooks', ...sent });
      const answered = once(stream, 'response');
      stream.end(body);
      const [{ ':status': status }] = await answered;
      const { outcome, code } = JSON.parse(await text(stream));
      return [status, outcome ?? code];
    };
    expect(await send(headers)).toEqual([200, 'processed']);
    expect(await send({ ...headers, 'content-type': 'x' })).toEqual([200, 'duplicate']);
    expect(await send({ ...headers, 'x-service-signature': 'x' })).toEqual([403, 'signature_malformed']);
  });
});

test('a connection whose delivery was running ends with the application, if the receiver closes first', async () => {
  const held = new HeldHandler();
  const receiver = create().on('*', held.handle);
  // Longer than a test may take.
  const app = fastify({ keepAliveTimeout: 600_000 });
  app.register(toFastify(receiver, { path: '/webhooks' }));
  const address = await app.listen({ port: 0, host: '127.0.0.1' });
  const send = () => fetch(`${address}/webhooks`, { method: 'POST', ...signed() });
  const answer = send();
  const call = await held.calls.nth(1);
  const closed = receiver.close().then(() => app.close());
  expect((await send()).status).toBe(503);
  call.succeed();
  expect((await answer).status).toBe(200);
  await closed;
});

describe('its path', () => {
  /** The statuses of deliveries to each path. */
  async function statuses(app: FastifyInstance, ...paths: readonly string[]): Promise<number[]> {
    const { url, close } = await listenOnFastify(app);
    onTestFinished(close);
    const answers = paths.map((path) => deliver(new URL(path, url), transfer(), { key: KEY }));
    return (await Promise.all(answers)).map(({ status }) => status);
  }

  test.each<[prefix: string, path: string]>([
    ['', '/webhooks'],
    ['', '/webhooks/'],
    ['/api', '/webhooks'],
    ['/api', '/'],
    ['/api/:tenant', '/webhooks/:kind'],
  ])('behind the prefix "%s", %s is served with and without a slash at the end', async (prefix, path) => {
    for (const options of [{}, { routerOptions: { ignoreTrailingSlash: true } }]) {
      const app = fastify(options).register(toFastify(create(), { path }), { prefix });
      const whole = `${prefix}${path}`.replace(/\/$/, '');
      expect(await statuses(app, whole, `${whole}/`, `${whole}?a=b`, `${whole}/more`)).toEqual([
        ...[200, 200, 200],
        404,
      ]);
    }
  });

  test('two receivers have paths of their own', async () => {
    const other = createReceiver({ signingKey: 'other' })
      .on('*', () => {})
      .observe(() => {});
    const app = fastify();
    app.register(toFastify(create(), { path: '/a' })).register(toFastify(other, { path: '/b' }));
    expect(await statuses(app, '/a', '/b', '/c')).toEqual([200, 403, 404]);
  });

  test.each([
    undefined,
    {},
    { path: 'webhooks' },
    { path: '/a?b' },
    { path: 1 },
    { path: '/a', prefix: '/b' },
  ])('the options %j are refused', (options) => {
    // @ts-expect-error no options of toFastify, whatever they are
    const call = () => toFastify(create(), options);
    expect(call).toThrow(ConfigurationError);
    expect(call).toThrow(/toFastify|^path must begin with "\/"/);
  });

  test('a path that a route of the application has is refused before it listens', async () => {
    const app = fastify();
    app.post('/webhooks', async () => 'taken');
    app.register(toFastify(create(), { path: '/webhooks' }));
    const ready = Promise.resolve(app.ready());
    await expect(ready).rejects.toThrow(ConfigurationError);
    await expect(ready).rejects.toThrow(
      /^toFastify cannot add its route "\/webhooks"; give it a path that no other route has: /,
    );
  });

  test('a plugin in place of a handler or a hook says how it is mounted', async () => {
    const plugin = toFastify(create(), { path: '/hooks' });
    // Untyped: the compiler does not let a plugin pass as a handler.
    const mistakes: readonly ((app: FastifyInstance) => unknown)[] = [
      (app) => Reflect.apply(app.post, app, ['/webhooks', plugin]),
      (app) => Reflect.apply(app.all, app, ['/webhooks', {}, plugin]),
      (app) => Reflect.apply(app.addHook, app, ['onRequest', plugin]),
    ];
    for (const mistake of mistakes) {
      const app = fastify();
      const errors: Error[] = [];
      app.addHook('onError', async (_request, _reply, error) => void errors.push(error));
      mistake(app);
      expect((await app.inject({ method: 'POST', url: '/webhooks' })).statusCode).toBe(500);
      expect(errors).toEqual([expect.any(ConfigurationError)]);
      expect(errors[0]?.message).toMatch(
        /^toFastify returns a plugin.*: mount it by app\.register\(toFastify\(receiver, \{ path: "\/hooks" \}\)\)/,
      );
      await app.close();
    }
    const call = () => Reflect.apply(toFastify, undefined, [create()]);
    expect(call).toThrow(ConfigurationError);
    expect(call).toThrow(/^toFastify needs the path of its route: mount it by app\.register\(/);
  });

  test('a value that is not a receiver is refused', () => {
    // @ts-expect-error no receiver
    expect(() => toFastify({}, { path: '/webhooks' })).toThrow(/^toFastify takes a receiver/);
  });
});
