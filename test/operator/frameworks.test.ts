import type { IncomingMessage } from 'node:http';
import { json } from 'node:stream/consumers';
import { getRequestListener } from '@hono/node-server';
import fastify from 'fastify';
import { Hono } from 'hono';
import { handle } from 'hono/aws-lambda';
import { createReceiver, PermanentError } from 'posthorn';
import { toNodeOperator, toOperator } from 'posthorn/operator';
import { createEvent, deliver } from 'posthorn/testing';
import { describe, expect, onTestFinished, test } from 'vitest';
import { gateways, listenAs } from '../adapters/lambda-gateway.ts';
import { expressVersions, koa } from '../adapters/mounts.ts';
import { listenUntilTheEnd } from '../support/listen.ts';
import { createMapDeadLetters } from '../support/map-dead-letters.ts';
import { KEY } from '../support/served.ts';
import { silenced } from '../support/silenced.ts';

// The mounts of docs/operator.md. Each application also parses the body of `/echo` as it does without them.

/** A request of Node.js with what a session middleware adds. */
type WithUser = IncomingMessage & { user?: { readonly email: string } };

/** Stands for a session middleware: reads the user from the cookie. */
function userOf(cookie: string | null | undefined): { readonly email: string } | undefined {
  return cookie === 'session=anna' ? { email: 'anna@example.com' } : undefined;
}

/** A receiver whose handler fails until it is mended, and the mounts of its interface. */
function operated() {
  const deadLetters = createMapDeadLetters();
  const state = { isMended: false };
  const receiver = createReceiver({ signingKey: KEY, deadLetters }).on('*', () => {
    if (!state.isMended) throw new PermanentError('the account is closed');
  });
  receiver.observe(() => {});
  const node = toNodeOperator(receiver, {
    path: '/operator',
    authorize: (_request, { user }: WithUser) => user && { name: user.email },
  });
  const web = toOperator(receiver, {
    path: '/operator',
    authorize: ({ headers }) => {
      const user = userOf(headers.get('cookie'));
      return user && { name: user.email };
    },
  });
  return { receiver, state, node, web };
}

type Operated = ReturnType<typeof operated>;

/** Listens on an application with the mount, and resolves with its origin. */
type Serve = (mounts: Operated) => Promise<string>;

const addUser = (request: IncomingMessage): unknown =>
  Object.assign(request, { user: userOf(request.headers.cookie) });

const serveOnNode: Serve = ({ node }) =>
  listenUntilTheEnd((request, response) => {
    addUser(request);
    node(request, response, () => {
      void json(request).then((body) => response.end(JSON.stringify(body)));
    });
  });

const onExpress = expressVersions.flatMap(([name, express]) =>
  ['before', 'after'].map((place): [string, Serve] => [
    `${name}, ${place} express.json()`,
    ({ node }) => {
      const app = express();
      app.use((request, _response, next) => {
        addUser(request);
        next();
      });
      if (place === 'before') app.use(node);
      app.use(express.json());
      if (place === 'after') app.use(node);
      app.post('/echo', ({ body }, response) => void response.json(body));
      return listenUntilTheEnd(app);
    },
  ]),
);

/** Fastify has parsed the body when its route begins. */
const serveOnFastify: Serve = ({ node }) => {
  const app = fastify();
  app.all('/operator/*', (request, reply) => {
    reply.hijack();
    const user = userOf(request.headers.cookie);
    node(Object.assign(request.raw, { user, body: request.body }), reply.raw);
  });
  app.post('/echo', async ({ body }) => body);
  onTestFinished(async () => void (await app.close()));
  return app.listen({ port: 0, host: '127.0.0.1' });
};

const serveOnKoa: Serve = ({ node }) =>
  listenUntilTheEnd(
    koa(
      async (context, next) => {
        addUser(context.req);
        await next();
      },
      (context, next) => {
        if (!context.path.startsWith('/operator/')) return next();
        context.respond = false;
        return node(context.req, context.res);
      },
      async (context) => {
        context.body = await json(context.req);
      },
    ).callback(),
  );

function honoWith({ web }: Operated): Hono {
  const app = new Hono();
  app.all('/operator/*', (context) => web(context.req.raw));
  return app.post('/echo', async (context) => context.json(await context.req.json()));
}

const serveOnHono: Serve = (mounts) => listenUntilTheEnd(getRequestListener(honoWith(mounts).fetch));

/** Route handlers of Next.js get the request, and their parameters beside it. */
const serveOnRoute: Serve = ({ web }) => {
  const route: (request: Request, context: object) => Promise<Response> = web;
  const fetch = async (request: Request): Promise<Response> =>
    new URL(request.url).pathname.startsWith('/operator/')
      ? route(request, { params: Promise.resolve({}) })
      : new Response(request.body);
  return listenUntilTheEnd(getRequestListener(fetch));
};

const onLambda = Object.entries(gateways).map(([name, gateway]): [string, Serve] => [
  `hono/aws-lambda behind ${name}`,
  (mounts) => {
    const lambda = handle(honoWith(mounts));
    // A REST API takes headers in either member, and Hono gives it lists.
    const headers = name.endsWith('1.0') ? 'multiValueHeaders' : gateway.headers;
    const listener = listenAs({ ...gateway, headers }, (event) => Reflect.apply(lambda, undefined, [event]));
    return listenUntilTheEnd(listener);
  },
]);

function ask(origin: string, path: string, body?: object, headers: Record<string, string> = {}) {
  const sent = { cookie: 'session=anna', 'content-type': 'application/json', ...headers };
  const options = { headers: sent, ...(body && { method: 'POST', body: JSON.stringify(body) }) };
  return fetch(`${origin}${path}`, options);
}

describe.each([
  ['Node.js http', serveOnNode],
  ...onExpress,
  ['Fastify', serveOnFastify],
  ['Koa', serveOnKoa],
  ['Hono', serveOnHono],
  ['a route handler of the web', serveOnRoute],
  ...onLambda,
])('%s', (_name, serve: Serve) => {
  test('serves the interface to the user of the session, and leaves other paths alone', async () => {
    silenced('info');
    const mounts = operated();
    const { receiver, state } = mounts;
    const origin = await serve(mounts);
    const event = createEvent('transfer.succeeded');
    expect((await deliver(receiver, event, { key: KEY })).status).toBe(200);
    state.isMended = true;

    const health = await ask(origin, '/operator/api/health');
    expect([health.status, await health.json()]).toMatchObject([200, { deadLetters: { waiting: 1 } }]);
    const replay = (headers?: Record<string, string>) =>
      ask(origin, '/operator/api/dead-letters/replay', { ids: [event.id] }, headers);
    const stranger = await replay({ cookie: 'session=eve' });
    expect([stranger.status, await stranger.json()]).toMatchObject([403, { code: 'forbidden' }]);
    const foreign = await replay({ origin: 'https://evil.example' });
    expect([foreign.status, await foreign.json()]).toMatchObject([403, { code: 'origin_foreign' }]);
    const done = await replay();
    expect([done.status, await done.json()]).toMatchObject([
      200,
      { results: [{ id: event.id, outcome: 'processed' }] },
    ]);
    expect(await (await ask(origin, '/echo', { a: 1 })).text()).toBe('{"a":1}');
  });

  test('serves the page and its script to the user of the session', async () => {
    const origin = await serve(operated());
    const page = await ask(origin, '/operator/');
    const html = await page.text();
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    const base = /<base href="([^"]*)">/.exec(html)?.[1] ?? '';
    const { pathname } = new URL('page/page.js', new URL(base, page.url));
    const script = await ask(origin, pathname);
    expect([script.status, await script.text()]).toEqual([200, expect.stringContaining("get('receivers')")]);
    expect((await ask(origin, '/operator/', undefined, { cookie: 'session=eve' })).status).toBe(403);
  });
});
