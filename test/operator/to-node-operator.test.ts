import { once } from 'node:events';
import { createServer, type IncomingMessage, request } from 'node:http';
import { connect, createServer as createHttp2Server } from 'node:http2';
import { connect as connectTcp } from 'node:net';
import { json, text } from 'node:stream/consumers';
import type { RequestHandler } from 'express';
import { toNodeOperator } from 'posthorn/operator';
import { describe, expect, onTestFinished, test } from 'vitest';
import { expressVersions } from '../adapters/mounts.ts';
import { HeldHandler } from '../support/held-handler.ts';
import { listenUntilTheEnd } from '../support/listen.ts';
import { until } from '../support/until.ts';
import { ada, askOver } from './mounts.ts';
import { createOperated, idOf, letters } from './operated.ts';

const LETTERS = '/api/dead-letters';
const REPLAY = `${LETTERS}/replay`;
const body = { ids: [idOf(1)] };

const open = (count = 1) => createOperated({ parked: letters(count) });

describe('requests for other paths', () => {
  const others = [
    '/',
    '/operators',
    '/operator2/api/health',
    '/x/operator/api/health',
    '/OPERATOR/api/health',
  ];

  test('go to next', async () => {
    const handle = toNodeOperator(open().receiver, ada);
    const origin = await listenUntilTheEnd((incoming, response) =>
      handle(incoming, response, () => void response.writeHead(299).end()),
    );
    for (const path of others) expect((await fetch(origin + path)).status, path).toBe(299);
    expect((await fetch(`${origin}/operator/api/health`)).status).toBe(200);
  });

  test('get 404 without next, and authorize is not asked', async () => {
    let asked = 0;
    const authorize = () => {
      asked += 1;
      return { name: 'ada' };
    };
    const origin = await listenUntilTheEnd(toNodeOperator(open().receiver, { ...ada, authorize }));
    for (const path of others) {
      const response = await fetch(origin + path);
      expect(response.status).toBe(404);
      const answer = await response.text();
      expect(JSON.parse(answer)).toMatchObject({ code: 'not_found' });
      expect(answer).not.toContain('operator');
    }
    expect(asked).toBe(0);
  });

  test('go to a second operator behind the first one', async () => {
    const [first, second] = [open(1), open(2)];
    const handle = toNodeOperator(first.receiver, ada);
    const handleOther = toNodeOperator(second.receiver, { ...ada, path: '/operator/disputes' });
    const origin = await listenUntilTheEnd((incoming, response) =>
      handleOther(incoming, response, () => handle(incoming, response)),
    );
    const ask = askOver(origin);
    expect((await ask(LETTERS)).body.deadLetters).toHaveLength(1);
    expect((await ask(`/disputes${LETTERS}`)).body.deadLetters).toHaveLength(2);
  });
});

describe.each(expressVersions)('on %s', (_name, express) => {
  const mount = async (
    operated: ReturnType<typeof open>,
    middlewares: readonly RequestHandler[],
    { path = '/operator', prefix = '/' } = {},
  ) => {
    const app = express();
    for (const middleware of middlewares) app.use(middleware);
    app.use(prefix, toNodeOperator(operated.receiver, { ...ada, path }));
    return listenUntilTheEnd(createServer(app));
  };

  const parsers: readonly (readonly [name: string, middlewares: readonly RequestHandler[]])[] = [
    ['no parser', []],
    ['express.json()', [express.json()]],
    ['express.raw()', [express.raw({ type: '*/*' })]],
    ['express.text()', [express.text({ type: '*/*' })]],
    ['express.urlencoded(), which leaves JSON alone', [express.urlencoded({ extended: false })]],
    ['all of them', [express.urlencoded({ extended: false }), express.json(), express.raw()]],
  ];

  test.each(parsers)('a deed is done behind %s', async (_parser, middlewares) => {
    const operated = open();
    const ask = askOver(await mount(operated, middlewares));
    expect((await ask(REPLAY, { body })).body).toMatchObject({ results: [{ outcome: 'processed' }] });
    expect(operated.handled).toEqual([idOf(1)]);
  });

  test.each([
    ['the path below the prefix', '/operator'],
    ['the whole path', '/internal/operator'],
  ])('it is served below a prefix by %s', async (_path, path) => {
    const origin = await mount(open(), [], { prefix: '/internal', path });
    const response = await fetch(`${origin}/internal/operator${LETTERS}?limit=1`);
    expect(await response.json()).toMatchObject({ deadLetters: [{ id: idOf(1) }] });
  });

  test('authorize gets the request with what middlewares have added', async () => {
    interface WithUser extends IncomingMessage {
      user?: string;
    }
    const { receiver } = open();
    const app = express();
    app.use((incoming: WithUser, _response: unknown, next: () => void) => {
      incoming.user = 'grace';
      next();
    });
    const authorize = (_request: Request, { user }: WithUser) => (user === undefined ? null : { name: user });
    app.use(toNodeOperator(receiver, { path: '/operator', authorize }));
    const ask = askOver(await listenUntilTheEnd(createServer(app)));
    expect((await ask('/api/receivers')).body).toMatchObject({ operator: { name: 'grace', bodies: false } });
  });
});

describe('over raw connections', () => {
  const openRaw = async (count?: number) => {
    const operated = open(count);
    const origin = await listenUntilTheEnd(toNodeOperator(operated.receiver, ada));
    return { ...operated, origin };
  };

  const answerTo = async (origin: string, head: string): Promise<string> => {
    const { hostname, port } = new URL(origin);
    const socket = connectTcp(Number(port), hostname);
    onTestFinished(() => void socket.destroy());
    socket.write(head);
    return text(socket);
  };

  test.each([
    [
      'the absolute form of a proxy',
      'GET http://a.example/operator/api/health HTTP/1.1\r\nHost: a.example',
      200,
    ],
    ['a missing Host, in HTTP/1.0', 'GET /operator/api/health HTTP/1.0', 200],
    ['an empty Host', 'GET /operator/api/health HTTP/1.1\r\nHost: ', 404],
    ['a Host that is not one', 'GET /operator/api/health HTTP/1.1\r\nHost: a b', 404],
    ['a path of another host', 'GET //evil.example/operator/api/health HTTP/1.1\r\nHost: a', 404],
    ['TRACE, which the web does not know', 'TRACE /operator/api/health HTTP/1.1\r\nHost: a', 404],
  ])('%s is answered', async (_name, head, status) => {
    const { origin } = await openRaw();
    const answer = await answerTo(origin, `${head}\r\nConnection: close\r\n\r\n`);
    expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
  });

  test('an operator who hangs up stops the deed before the next dead letter', async () => {
    const held = new HeldHandler();
    const { handled, left, receiver, log } = createOperated({ parked: letters(3), handle: held.handle });
    let isGone = false;
    const handle = toNodeOperator(receiver, ada);
    const origin = await listenUntilTheEnd((incoming, response) => {
      response.once('close', () => {
        isGone = true;
      });
      handle(incoming, response);
    });
    const outgoing = request(`${origin}/operator${REPLAY}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
    });
    outgoing.on('error', () => {});
    outgoing.end(JSON.stringify({ selection: {} }));
    const call = await held.calls.nth(1);
    outgoing.destroy();
    await until('the server sees the end of the connection', () => isGone);
    call.succeed();
    await until('the deed is logged', () => log.mock.calls.length === 1);
    expect(handled).toEqual([idOf(1)]);
    expect(left.size).toBe(2);
  });
});

test('it is served over HTTP/2', async () => {
  const { handled, receiver } = open();
  const origin = await listenUntilTheEnd(createHttp2Server(toNodeOperator(receiver, ada)));
  const session = connect(origin);
  onTestFinished(() => session.destroy());
  const stream = session.request({
    ':method': 'POST',
    ':path': `/operator${REPLAY}`,
    'content-type': 'application/json',
    origin,
  });
  stream.end(JSON.stringify(body));
  const [headers] = await once(stream, 'response');
  expect(headers[':status']).toBe(200);
  expect(await json(stream)).toMatchObject({ results: [{ id: idOf(1), outcome: 'processed' }] });
  expect(handled).toEqual([idOf(1)]);
});
