import { ConfigurationError, createReceiver, type Report } from 'posthorn';
import { toExpress } from 'posthorn/express';
import { signedHeaders } from 'posthorn/testing';
import { describe, expect, test } from 'vitest';
import { conformance } from './conformance.ts';
import {
  Endpoint,
  expectAccepted,
  expectProblem,
  expectReport,
  KEY,
  listen,
  type Mount,
  transfer,
} from './endpoint.ts';
import { expressVersions, mountBehind } from './mounts.ts';
import { onExpress } from './our-adapters.ts';

describe.each(expressVersions)('toExpress on %s', (name, express) => {
  conformance(onExpress([name, express]));

  const parsers = {
    'express.json()': express.json(),
    'express.text()': express.text({ type: '*/*' }),
    'express.urlencoded()': express.urlencoded({ type: '*/*', extended: false }),
  };
  for (const [name, parser] of Object.entries(parsers)) {
    test(`a body that ${name} has parsed away is answered 500 at once, with what to move`, async () => {
      const endpoint = await Endpoint.open(mountBehind(express, parser));
      const startedAt = performance.now();
      expectProblem(await endpoint.send(transfer()), 500, 'body_already_parsed');
      expect(performance.now() - startedAt).toBeLessThan(2_000);
      expectMoveAdvice(await expectReport(endpoint, { outcome: 'failed', code: 'body_already_parsed' }));
    });
  }

  const keepers = {
    'the Buffer of express.raw()': express.raw({ type: '*/*' }),
    'the rawBody of express.json({verify})': express.json({
      verify: (request, _response, bytes) => Object.assign(request, { rawBody: bytes }),
    }),
    'a body that express.json() left alone for its type': express.json({ type: 'application/other' }),
  };
  for (const [name, keeper] of Object.entries(keepers)) {
    test(`${name} is taken as it is`, async () => {
      const endpoint = await Endpoint.open(mountBehind(express, keeper), {
        options: { maxBodyBytes: 1_000 },
      });
      const event = transfer();
      const body = JSON.stringify(event, undefined, 2);
      expectAccepted(await endpoint.send(body), 'processed', event.id);
      const changed = JSON.stringify({ ...event, data: {} }, undefined, 2);
      expectProblem(
        await endpoint.send(changed, signedHeaders(body, { key: KEY })),
        403,
        'signature_mismatch',
      );
      const long = `${body}${' '.repeat(1_000)}`;
      expectProblem(await endpoint.send(long), 413, 'body_too_large');
      expect(endpoint.reports).toHaveLength(3);
    });
  }

  test('mounted as a route, it leaves other methods and paths to Express', async () => {
    const mount: Mount = (receiver) => {
      const app = express();
      app.post('/webhooks', toExpress(receiver));
      app.use(express.json());
      app.post('/other', (request, response) => void response.status(201).json(request.body));
      return listen(app);
    };
    const endpoint = await Endpoint.open(mount);
    const event = transfer();
    const answer = await endpoint.request({ method: 'GET' });
    expect(answer.status).toBe(404);
    expect(endpoint.reports).toEqual([]);
    expectAccepted(await endpoint.send(event), 'processed', event.id);
    const other = await fetch(new URL('/other', endpoint.url), {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"a":1}',
    });
    expect([other.status, await other.json()]).toEqual([201, { a: 1 }]);
  });

  test('a query string changes nothing', async () => {
    const endpoint = await Endpoint.open(mountBehind(express));
    const answer = await endpoint.request({ method: 'GET' }, '?a=b');
    expectProblem(answer, 405, 'method_not_allowed');
  });
});

test('an option that toExpress does not have is refused', () => {
  const receiver = createReceiver({ signingKey: KEY });
  for (const [options, message] of [
    [{ paths: '/webhooks' }, /^"paths" is not an option of toExpress; its options are path$/],
    [{ path: 'webhooks' }, /^path must begin with "\/"/],
    [{ path: '/wébhooks' }, /^path must be encoded as in a URL: "\/w%C3%A9bhooks"/],
    [{ path: '/web hooks' }, /^path must be encoded as in a URL: "\/web%20hooks"/],
    [{ path: '/100%' }, /^path must be encoded as in a URL, with "%25" for "%"; got "\/100%"$/],
    ['/webhooks', /^toExpress takes an object of options/],
  ] as const) {
    const call = () => Reflect.apply(toExpress, undefined, [receiver, options]);
    expect(call).toThrow(ConfigurationError);
    expect(call).toThrow(message);
  }
});

function expectMoveAdvice({ error }: Report): void {
  expect(error).toBeInstanceOf(ConfigurationError);
  expect(error?.message).toMatch(/req\.body is set.*mount posthorn before\s+express\.json\(\)/);
  expect(error?.message).toContain('NestFactory.create(AppModule, { rawBody: true })');
  expect(error?.message.length).toBeLessThan(500);
  expect(error?.message).not.toContain('Koa');
}
