import { once } from 'node:events';
import { connect, createServer as createHttp2Server } from 'node:http2';
import { text } from 'node:stream/consumers';
import type { Middleware } from 'koa';
import { ConfigurationError } from 'posthorn';
import { toKoa } from 'posthorn/koa';
import { deliver } from 'posthorn/testing';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { listenUntilTheEnd } from '../support/listen.ts';
import { receiverWithReports } from '../support/receiver-with-reports.ts';
import { throwing } from '../support/throwing.ts';
import { parseOnKoa } from './body-readers.ts';
import { conformance } from './conformance.ts';
import { Endpoint, expectAccepted, expectProblem, expectReport, KEY, signed, transfer } from './endpoint.ts';
import { koa, mountOnKoa } from './mounts.ts';
import { onKoa } from './our-adapters.ts';

/** What `koa-mount` does: the prefix is taken out of the path while the mounted middleware runs. */
function mountAt(prefix: string, middleware: Middleware): Middleware {
  return async (context, next) => {
    const { path } = context;
    if (!path.startsWith(prefix)) return next();
    context.path = path.slice(prefix.length) || '/';
    await middleware(context, async () => {
      context.path = path;
      await next();
    });
    context.path = path;
  };
}

const notFound: Middleware = (context) => {
  context.status = 404;
};

/** Serves until the end of the test; returns a function that delivers an event to a path. */
async function serve(...middlewares: readonly Middleware[]) {
  const url = await listenUntilTheEnd(koa(...middlewares).callback());
  return (path: string) => deliver(new URL(path, url).href, transfer(), { key: KEY });
}

describe('toKoa', () => conformance(onKoa));

describe('a body that a parser of Koa has read', () => {
  test('is answered 500, with what to move, also if its text was kept', async () => {
    const endpoint = await Endpoint.open(mountOnKoa(parseOnKoa));
    expectProblem(await endpoint.send(transfer()), 500, 'body_already_parsed');
    const { error } = await expectReport(endpoint, { outcome: 'failed', code: 'body_already_parsed' });
    expect(error).toBeInstanceOf(ConfigurationError);
    expect(error?.message).toMatch('the body parser on Koa, which fills ctx.request.body');
  });

  test('is taken from ctx.req.rawBody', async () => {
    const keep: Middleware = ({ req, request }, next) => {
      Object.assign(req, { rawBody: Reflect.get(request, 'rawBody') });
      return next();
    };
    const endpoint = await Endpoint.open(mountOnKoa(parseOnKoa, keep));
    const event = transfer();
    expectAccepted(await endpoint.send(JSON.stringify(event, undefined, 2)), 'processed', event.id);
  });

  test('is there for the middleware behind the receiver, which serves other paths', async () => {
    const { receiver } = receiverWithReports({ signingKey: KEY });
    const send = await serve(toKoa(receiver, { path: '/webhooks' }), parseOnKoa, (context) => {
      context.body = { type: Reflect.get(context.request, 'body').type };
    });
    const answer = await send('/others');
    expect([answer.status, await answer.json()]).toEqual([200, { type: 'transfer.succeeded' }]);
    expect(await send('/webhooks')).toMatchObject({ status: 200 });
  });
});

describe('what Koa has around a request', () => {
  test('middleware before it sees the status, sets headers, and cannot change the answer', async () => {
    const seen: number[] = [];
    const endpoint = await Endpoint.open(
      mountOnKoa(async (context, next) => {
        context.set('x-request-id', 'one');
        await next();
        seen.push(context.status);
        context.set('x-response-time', '1');
        context.body = 'changed';
      }),
    );
    const event = transfer();
    const answer = await endpoint.send(event);
    expectAccepted(answer, 'processed', event.id);
    expect(answer.headers.get('x-request-id')).toBe('one');
    expectProblem(await endpoint.send(event, { 'x-service-signature': 'x' }), 403, 'signature_malformed');
    expect(seen).toEqual([200, 403]);
  });

  test('a response that cannot be written is an error of the application, and hangs nobody', async () => {
    const { receiver } = receiverWithReports({ signingKey: KEY });
    const broken: Middleware = ({ res }, next) => {
      res.write = throwing('written by nobody');
      return next();
    };
    const app = koa(broken, toKoa(receiver));
    const errors: unknown[] = [];
    app.on('error', (error) => errors.push(error));
    const url = await listenUntilTheEnd(app.callback());
    for (const note of ['', 'x'.repeat(300_000)]) {
      const event = { ...transfer(), data: { note } };
      const answered = deliver(url, event, { key: KEY }).then((answer) => answer.text());
      await expect(answered, 'the connection is closed').rejects.toThrow();
    }
    const error = expect.objectContaining({ message: 'written by nobody' });
    expect(errors.filter((one) => error.asymmetricMatch(one))).toHaveLength(2);
  });

  test('HTTP/2 is served', async () => {
    const { receiver } = receiverWithReports({ signingKey: KEY });
    const server = createHttp2Server(koa(toKoa(receiver, { path: '/webhooks' })).callback());
    const session = connect(await listenUntilTheEnd(server));
    onTestFinished(() => session.destroy());
    const { body, headers } = signed();
    const send = async (path: string, sent: Record<string, string>): Promise<[unknown, string]> => {
      const stream = session.request({ ':method': 'POST', ':path': path, ...sent });
      const answered = once(stream, 'response');
      stream.end(body);
      const [{ ':status': status }] = await answered;
      return [status, await text(stream)];
    };
    expect(await send('/webhooks', headers)).toEqual([200, expect.stringContaining('processed')]);
    expect(await send('/webhooks/?a=b', headers)).toEqual([200, expect.stringContaining('duplicate')]);
    expect(await send('/webhooks', { ...headers, 'x-service-signature': 'x' })).toEqual([
      403,
      expect.stringContaining('signature_malformed'),
    ]);
    expect(await send('/others', headers)).toEqual([404, '404']);
  });
});

describe('its path', () => {
  test.each([
    ['/api', '/api/webhooks'],
    ['/api', '/webhooks'],
    ['/api/webhooks', '/api/webhooks'],
    ['/api/webhooks', undefined],
  ])('behind the prefix %s it is %s', async (prefix, path) => {
    const { receiver } = receiverWithReports({ signingKey: KEY });
    const send = await serve(mountAt(prefix, toKoa(receiver, path === undefined ? {} : { path })));
    expect(await send('/api/webhooks')).toMatchObject({ status: 200 });
    expect(await send('/api/webhooks/?a=b')).toMatchObject({ status: 200 });
    expect(await send('/others')).toMatchObject({ status: 404 });
  });

  test('requests for others go to the next middleware', async () => {
    const first = receiverWithReports({ signingKey: KEY });
    const second = receiverWithReports({ signingKey: KEY });
    const send = await serve(
      toKoa(first.receiver, { path: '/a' }),
      toKoa(second.receiver, { path: '/b/' }),
      (context) => {
        context.status = context.path === '/c' ? 204 : 404;
      },
    );
    expect((await Promise.all(['/a', '/b', '/c'].map(send))).map(({ status }) => status)).toEqual([
      200, 200, 204,
    ]);
    expect([first.reports.length, second.reports.length]).toEqual([1, 1]);
  });

  test.each<[string, Middleware[]]>([
    ['Koa itself', []],
    ['a middleware', [notFound]],
    ['an error', [(context) => context.throw(404)]],
  ])('a delivery for another one is reported, if %s answers 404', async (_, others) => {
    const { receiver, reports } = receiverWithReports({ signingKey: KEY });
    const send = await serve(toKoa(receiver, { path: '/webhooks' }), ...others);
    for (const path of ['/webhook?a=b', '/webhook']) expect(await send(path)).toMatchObject({ status: 404 });
    await vi.waitFor(() => expect(reports).toMatchObject([{ status: 404, code: 'not_found' }]));
    expect(reports[0]?.error?.message).toContain('came for "/webhook", and this receiver serves "/webhooks"');
  });

  test('the path that is reported is the one that was asked for, also behind a prefix', async () => {
    const { receiver, reports } = receiverWithReports({ signingKey: KEY });
    const send = await serve(mountAt('/api', toKoa(receiver, { path: '/webhooks' })));
    expect(await send('/api/hooks')).toMatchObject({ status: 404 });
    await vi.waitFor(() => expect(reports).toHaveLength(1));
    expect(reports[0]?.error?.message).toContain('came for "/api/hooks"');
  });

  test.each([null, { path: 'webhooks' }, { path: '/a#b' }, { path: 1 }, { prefix: '/a' }])(
    'the options %j are refused',
    (options) => {
      // @ts-expect-error no options of toKoa
      const call = () => toKoa(receiverWithReports({ signingKey: KEY }).receiver, options);
      expect(call).toThrow(ConfigurationError);
      expect(call).toThrow(/toKoa|^path must begin with "\/"/);
    },
  );

  test('a value that is not a receiver, or not a context of Koa, is refused', async () => {
    // @ts-expect-error no receiver
    expect(() => toKoa({})).toThrow(/^toKoa takes a receiver/);
    const handle = toKoa(receiverWithReports({ signingKey: KEY }).receiver);
    for (const context of [undefined, {}, { url: '/', rawHeaders: [] }]) {
      // @ts-expect-error no context
      const handled = handle(context, async () => {});
      await expect(handled).rejects.toThrow(/^toKoa makes a middleware of Koa/);
    }
  });
});
