import express5 from 'express';
import express4 from 'express-4';
import { createSandbox } from 'posthorn/sandbox';
import { describe, expect, onTestFinished, test } from 'vitest';
import { RawConnection } from '../../adapters/raw-connection.ts';
import { listenUntilTheEnd } from '../../support/listen.ts';
import {
  ADMINISTRATOR,
  BANKING,
  CONTROL,
  callTo,
  createWebhook,
  openSandbox,
  PROFILE,
} from './opened-sandbox.ts';
import { openRecorded } from './recording-endpoint.ts';

describe('a request to the sandbox:', () => {
  test('every path answers', async () => {
    const { opened, id } = await openRecorded();
    const { call } = opened;
    const webhook = `/payments/na/webhooks/${id}`;
    expect(await call('GET', '/payments/na/webhooks?limit=1', ADMINISTRATOR)).toMatchObject({
      status: 200,
      body: { page: { limit: 1, offset: 0, count: 1 } },
    });
    expect(await call('GET', webhook, ADMINISTRATOR)).toMatchObject({ status: 200, body: { id } });
    expect(await call('PUT', webhook, ADMINISTRATOR, '{"enabled":true}')).toMatchObject({ status: 200 });

    const quotes = '/banking/us2/v1/transaction/fxQuote';
    const asked = '{"destination":{"currency":"EUR","amount":"100.00"}}';
    const { body } = await call('POST', quotes, BANKING, asked);
    const quoteId = (body as { id: number }).id;
    expect(await call('GET', `${quotes}/id/${quoteId}`, BANKING)).toMatchObject({ status: 200, body });
    expect(await call('POST', `/sandbox/fxQuotes/${quoteId}/accept`, CONTROL)).toMatchObject({
      status: 200,
      body: { status: 'ACCEPTED' },
    });

    const eChecks = '/banking/echecks/apiServices/uploadChecks.php?GetChecksByMerchantTransID';
    expect(await call('POST', eChecks, BANKING, '{"merchantTransID":"MTX-1001"}')).toMatchObject({
      status: 200,
      body: { errorCode: 0, checkInfo: [{ MerchantTransID: 'MTX-1001' }] },
    });
    const profile = '/banking/ibans/v2/profile/v2.1';
    for (const list of ['purpose', 'currencies']) {
      expect(await call('GET', `${profile}/${list}`, PROFILE)).toMatchObject({
        status: 200,
        body: { success: true },
      });
    }

    const sent = await call('POST', '/sandbox/events', CONTROL, '{"type":"transfer.created"}');
    expect(sent.status).toBe(200);
    const clock = await call('POST', '/sandbox/clock', CONTROL, '{"advanceMs":1000}');
    expect(clock).toMatchObject({ status: 200, body: { now: '2026-03-01T12:00:01.500Z' } });
    const event = (sent.body as { id: string }).id;
    expect(await call('GET', `/sandbox/deliveries?event=${event}`)).toMatchObject({
      status: 200,
      body: [{ event, status: 204 }],
    });
  });

  test.each([
    ['POST', '/payments/na/webhooks', ADMINISTRATOR],
    ['POST', '/banking/us2/v1/transaction/fxQuote', BANKING],
    ['POST', '/banking/echecks/apiServices/uploadChecks.php?GetChecksByMerchantTransID', BANKING],
    ['POST', '/banking/ibans/v2/users/login', CONTROL],
    ['POST', '/sandbox/events', CONTROL],
    ['POST', '/sandbox/clock', CONTROL],
  ])('%s %s with a body that is not JSON: 400', async (method, path, headers) => {
    const { call } = await openSandbox();
    for (const body of ['{"url":', 'text', '"text"']) {
      const reply = await call(method, path, headers, body);
      expect(reply.status).toBe(400);
      expect(reply.body).toEqual({
        status: 400,
        message: 'Invalid request',
        details: expect.stringMatching(/\w/),
      });
    }
  });

  test.each([
    ['POST', '/payments/na/webhooks', ADMINISTRATOR],
    ['POST', '/banking/us2/v1/transaction/fxQuote', BANKING],
    ['POST', '/sandbox/events', CONTROL],
    ['POST', '/sandbox/clock', CONTROL],
  ])('%s %s with a body that is nested deeply: 400', async (method, path, headers) => {
    const { call } = await openSandbox();
    for (const [levels, open, close] of [
      [201, '[', ']'],
      [5_000, '{"a":', '}'],
      [100_000, '[', ']'],
    ] as const) {
      const deep = `${open.repeat(levels)}1${close.repeat(levels)}`;
      const body = `{"type":"transfer.created","url":"http://127.0.0.1","data":{"deep":${deep}}}`;
      expect(await call(method, path, headers, body)).toMatchObject({
        status: 400,
        body: { message: 'Invalid request', details: expect.stringContaining('200 levels') },
      });
    }
  });

  test('an event may be nested, but not deeply, nor hold itself', async () => {
    const { call, sandbox } = await openSandbox();
    const nested = (levels: number): string => `${'['.repeat(levels)}${']'.repeat(levels)}`;
    const bodyWith = (levels: number): string => `{"type":"a.b","data":{"deep":${nested(levels)}}}`;
    expect((await call('POST', '/sandbox/events', CONTROL, bodyWith(198))).status).toBe(200);
    expect((await call('POST', '/sandbox/events', CONTROL, bodyWith(199))).status).toBe(400);
    const data: Record<string, unknown> = {};
    data.one = data;
    data.other = [data, data];
    expect(() => sandbox.send({ type: 'a.b', data })).toThrow(
      expect.objectContaining({ code: 'request_refused', details: expect.stringContaining('200 levels') }),
    );
  });

  test('a body of another type: 415, with what to say', async () => {
    const { call } = await openSandbox();
    const headers = { ...ADMINISTRATOR, 'content-type': 'application/x-www-form-urlencoded' };
    expect(
      await call('POST', '/payments/na/webhooks', headers, '{"url":"https://example.com/"}'),
    ).toMatchObject({
      status: 415,
      body: { status: 415, details: 'send the body with Content-Type: application/json' },
    });
  });

  test.each([
    ['POST', '/payments/na/webhooks', ADMINISTRATOR],
    ['PUT', '/payments/na/webhooks/WH1', ADMINISTRATOR],
    ['POST', '/banking/us2/v1/transaction/fxQuote', BANKING],
    ['POST', '/banking/ibans/v2/users/login', CONTROL],
    ['POST', '/sandbox/events', CONTROL],
    ['POST', '/sandbox/clock', CONTROL],
    ['POST', '/sandbox/fxQuotes/5001/accept', CONTROL],
  ])('%s %s without a body needs the type too: 415', async (method, path, headers) => {
    const { call } = await openSandbox();
    const { 'content-type': _, ...untyped } = headers;
    expect(await call(method, path, untyped)).toMatchObject({
      status: 415,
      body: { status: 415, details: 'send Content-Type: application/json, also without a body' },
    });
    // All that a form and a `no-cors` fetch can send.
    for (const type of [
      'text/plain',
      'text/plain; application/json',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=application/json',
    ]) {
      expect((await call(method, path, { ...headers, 'content-type': type })).status).toBe(415);
      expect((await call(method, path, { ...headers, 'content-type': type }, '{}')).status).toBe(415);
    }
  });

  test('the type may have parameters, in any case', async () => {
    const { call } = await openSandbox();
    const headers = { 'content-type': 'Application/JSON ; charset=UTF-8' };
    expect((await call('POST', '/sandbox/clock', headers, '{"advanceMs":0}')).status).toBe(200);
  });

  test('a body that is too long: 413', async () => {
    const { call } = await openSandbox();
    const body = (length: number): string =>
      `{"type":"transfer.created","data":{"long":"${'x'.repeat(length)}"}}`;
    expect(await call('POST', '/sandbox/events', CONTROL, body(2_000_000))).toMatchObject({ status: 200 });
    expect(await call('POST', '/sandbox/events', CONTROL, body(8_388_608))).toMatchObject({
      status: 413,
      body: { status: 413 },
    });
  });

  test.each([
    '/payments/na/webhook',
    '/payments/na/webhooks/WH1/more',
    '/Payments/na/webhooks',
    '/banking/us2/v1/transaction/fxQuote/5001',
    '/sandbox',
    '/sandbox/nothing',
  ])('GET %s is unknown: 404', async (path) => {
    const { call } = await openSandbox();
    const reply = await call('GET', path, ADMINISTRATOR);
    expect(reply.status).toBe(404);
    expect(reply.body).toEqual({ status: 404, message: 'Not found', details: expect.stringContaining(path) });
  });

  test.each([
    ['DELETE', '/payments/na/webhooks', 'GET, POST', ADMINISTRATOR],
    ['DELETE', '/payments/na/webhooks/WH1', 'GET, PUT', ADMINISTRATOR],
    ['PATCH', '/payments/na/webhooks/WH1', 'GET, PUT', ADMINISTRATOR],
    ['GET', '/banking/us2/v1/transaction/fxQuote', 'POST', BANKING],
    ['PUT', '/banking/us2/v1/transaction/fxQuote/id/5001', 'GET', BANKING],
    ['POST', '/banking/ibans/v2/profile/v2.1/purpose', 'GET', PROFILE],
    ['GET', '/sandbox/events', 'POST', CONTROL],
  ])('%s %s: 405', async (method, path, allow, headers) => {
    const { call } = await openSandbox();
    const reply = await call(method, path, headers);
    expect(reply).toMatchObject({ status: 405, body: { status: 405, message: 'Method not allowed' } });
    expect(reply.headers.get('allow')).toBe(allow);
  });

  test('an id that is no text: 400', async () => {
    const { call } = await openSandbox();
    expect(await call('GET', '/payments/na/webhooks/%E0%A4%A', ADMINISTRATOR)).toMatchObject({
      status: 400,
      body: { status: 400 },
    });
  });

  test('HEAD is answered as GET, without the body', async () => {
    const { call } = await openSandbox();
    const { body, ...got } = await call('GET', '/sandbox/clock');
    const asked = await call('HEAD', '/sandbox/clock');
    expect(asked).toMatchObject({ status: got.status, body: undefined });
    expect(asked.headers.get('content-length')).toBe(got.headers.get('content-length'));
    expect((await call('HEAD', '/sandbox/events')).status).toBe(405);
  });

  test('OPTIONS: 405, behind the guard', async () => {
    const { call } = await openSandbox();
    expect((await call('OPTIONS', '/payments/na/webhooks')).status).toBe(401);
    const reply = await call('OPTIONS', '/payments/na/webhooks', ADMINISTRATOR);
    expect([reply.status, reply.headers.get('allow')]).toEqual([405, 'GET, POST']);
  });

  test('answers are JSON in UTF-8, with their length, and do not name the software', async () => {
    const { call } = await openSandbox();
    for (const path of ['/sandbox/clock', '/sandbox/nothing']) {
      const { headers } = await call('GET', path);
      expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
      expect(headers.get('content-length')).toMatch(/^\d+$/);
      expect([headers.get('etag'), headers.get('x-powered-by')]).toEqual([null, null]);
    }
  });

  test('a slash at the end of a path changes nothing', async () => {
    const { call } = await openSandbox();
    expect((await call('GET', '/sandbox/clock/')).status).toBe(200);
    expect((await call('GET', '/sandbox/clock//')).status).toBe(404);
  });

  test('an id in the path is decoded', async () => {
    const opened = await openSandbox();
    const { id } = await createWebhook(opened, '{"url":"https://example.com/"}');
    const encoded = `%${id.charCodeAt(0).toString(16)}${id.slice(1)}`;
    expect(await opened.call('GET', `/payments/na/webhooks/${encoded}`, ADMINISTRATOR)).toMatchObject({
      status: 200,
      body: { id },
    });
  });

  test('a body that is compressed: 415', async () => {
    const { call } = await openSandbox();
    const headers = { ...CONTROL, 'content-encoding': 'gzip' };
    expect(await call('POST', '/sandbox/clock', headers, '{"advanceMs":0}')).toMatchObject({
      status: 415,
      body: { details: 'send the body without Content-Encoding' },
    });
  });

  test.each([
    ['of a declared length', ['content-length: 9000000']],
    ['in chunks', ['transfer-encoding: chunked']],
  ])('the connection goes on after a body that was too long, %s', async (_, lines) => {
    const { url } = await openSandbox();
    const connection = await RawConnection.open(url);
    const head = [
      'POST /sandbox/events HTTP/1.1',
      'host: localhost',
      'content-type: application/json',
      ...lines,
    ];
    connection.write(`${head.join('\r\n')}\r\n\r\n`);
    const body = 'x'.repeat(9_000_000);
    connection.write(
      lines[0]?.includes('chunked') ? `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n` : body,
    );
    expect((await connection.answer()).status).toBe(413);
    connection.write('GET /sandbox/clock HTTP/1.1\r\nhost: localhost\r\n\r\n');
    expect((await connection.answer()).status).toBe(200);
  });
});

describe.each([
  ['express 5', express5],
  ['express 4', express4],
])('on %s', (_, express) => {
  test('mounted below a path, beside a body parser, its links name that path', async () => {
    const sandbox = createSandbox();
    onTestFinished(() => sandbox.close());
    const app = express();
    app.use(express.json());
    app.use('/service', sandbox.app);
    const url = `${await listenUntilTheEnd(app)}/service`;
    const opened = { sandbox, url, call: callTo(url) };
    const { id } = await createWebhook(opened, '{"url":"https://example.com/"}');
    const { body } = await opened.call('GET', '/payments/na/webhooks', ADMINISTRATOR);
    expect(body).toMatchObject({
      _embedded: { webhooks: [{ _links: { self: { href: `${url}/payments/na/webhooks/${id}` } } }] },
      _links: { self: { href: `${url}/payments/na/webhooks` } },
    });
  });
});

test('app is a request listener of node:http too', async () => {
  const sandbox = createSandbox();
  onTestFinished(() => sandbox.close());
  const call = callTo(await listenUntilTheEnd(sandbox.app));
  expect((await call('GET', '/sandbox/clock')).status).toBe(200);
});
