import type { RequestListener } from 'node:http';
import { connect } from 'node:http2';
import { createReceiver, type Receiver, type Report, RequestError } from 'posthorn';
import { toExpress } from 'posthorn/express';
import { type NodeHandler, toNode } from 'posthorn/node';
import { createEvent, deliver, signedHeaders } from 'posthorn/testing';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { listenUntilTheEnd } from '../support/listen.ts';
import { stoppedClock } from '../support/monotonic-clock.ts';
import { receiverWithReports } from '../support/receiver-with-reports.ts';
import { KEY } from '../support/served.ts';
import { expressVersions } from './mounts.ts';

/** Serves until the end of the test; returns a function that delivers an event to a path. */
async function serve(listener: RequestListener) {
  const url = await listenUntilTheEnd(listener);
  return (path: string, headers: Record<string, string> = {}, key = KEY) =>
    deliver(new URL(path, url).href, createEvent('transfer.succeeded'), { key, headers });
}

/** The report of a delivery that nothing serves. */
function expectMisdirected(reports: readonly Report[], requested: string, served: string): void {
  expect(reports).toMatchObject([
    { outcome: 'rejected', status: 404, code: 'not_found', late: false, answerSent: true, event: undefined },
  ]);
  expect(reports[0]?.error).toBeInstanceOf(RequestError);
  expect(reports[0]?.error?.message).toContain(`a delivery with a signature came for "${requested}"`);
  expect(reports[0]?.error?.message).toContain(`this receiver serves "${served}"`);
}

describe('a slash at the end of the path changes nothing:', () => {
  test.each([
    ['/webhooks', '/webhooks/'],
    ['/webhooks', '/webhooks/?a=b'],
    ['/webhooks/', '/webhooks'],
    ['/webhooks/', '/webhooks/'],
    ['/a/b/', '/a/b?c=/'],
    ['/', '/'],
    ['/', '/?a=b'],
  ])('the option %s serves %s', async (path, requested) => {
    const send = await serve(toNode(receiverWithReports().receiver, { path }));
    expect(await send(requested)).toMatchObject({ status: 200 });
  });

  test.each([
    ['/webhooks', '/webhooks//'],
    ['/webhooks', '/webhooks/1'],
    ['/webhooks', '/'],
    ['/', '/webhooks'],
    ['/webhooks/', '/webhook'],
  ])('the option %s does not serve %s', async (path, requested) => {
    const send = await serve(toNode(receiverWithReports().receiver, { path }));
    expect(await send(requested)).toMatchObject({ status: 404 });
  });
});

describe('behind the prefix of a mount, on', () => {
  describe.each(expressVersions)('%s', (_, express) => {
    test.each([
      ['/api', '/api/webhooks'],
      ['/api', '/webhooks'],
      ['/api/webhooks', '/api/webhooks'],
      ['/', '/api/webhooks'],
    ])('app.use(%j) with the option path %j', async (prefix, path) => {
      const { receiver, reports } = receiverWithReports();
      const app = express();
      app.use(prefix, toNode(receiver, { path }));
      const send = await serve(app);
      expect(await send('/api/webhooks?a=b')).toMatchObject({ status: 200 });
      expect(await send('/api/webhooks/')).toMatchObject({ status: 200 });
      expect(await send('/api/others')).toMatchObject({ status: 404 });
      expect(reports.slice(0, 2)).toMatchObject([{ status: 200 }, { status: 200 }]);
    });

    test('a delivery that nothing serves is reported, with the path that was asked for', async () => {
      const { receiver, reports } = receiverWithReports();
      const app = express();
      app.use('/api', toNode(receiver, { path: '/api/webhooks' }));
      const send = await serve(app);
      expect(await send('/api/webhook')).toMatchObject({ status: 404 });
      await vi.waitFor(() => expect(reports).toHaveLength(1));
      expectMisdirected(reports, '/api/webhook', '/api/webhooks');
    });

    test('toExpress with the option path reports one for a mistyped path, and a route does not', async () => {
      const middleware = receiverWithReports();
      const route = receiverWithReports();
      const app = express();
      app.use(toExpress(middleware.receiver, { path: '/webhooks' }));
      app.all('/others', toExpress(route.receiver));
      const send = await serve(app);
      expect(await send('/webhooks')).toMatchObject({ status: 200 });
      expect(await send('/others')).toMatchObject({ status: 200 });
      expect(await send('/webhook')).toMatchObject({ status: 404 });
      await vi.waitFor(() => expect(middleware.reports).toHaveLength(2));
      expectMisdirected(middleware.reports.slice(1), '/webhook', '/webhooks');
      expect(route.reports).toHaveLength(1);
    });

    test('a delivery that something else serves, or refuses otherwise, is not reported', async () => {
      const first = receiverWithReports();
      const second = receiverWithReports();
      const app = express();
      app.use(toNode(first.receiver, { path: '/a' }), toNode(second.receiver, { path: '/b' }));
      app.post('/c', (_request, response) => void response.sendStatus(403));
      const send = await serve(app);
      const answers = [await send('/a'), await send('/b'), await send('/c')];
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 403]);
      expect(await send('/d')).toMatchObject({ status: 404 });
      await vi.waitFor(() => expect(first.reports).toHaveLength(2));
      expectMisdirected(first.reports.slice(1), '/d', '/a');
      expect(second.reports, 'the first one has reported it').toHaveLength(1);
    });
  });
});

describe('a delivery for another path', () => {
  test('is reported once a minute for its path, however many come', async () => {
    const { receiver, reports } = receiverWithReports();
    const pass = stoppedClock();
    const send = await serve(toNode(receiver, { path: '/webhooks/' }));
    for (const path of ['/webhook?a=b', '/webhook', '/webhook/']) {
      expect(await send(path)).toMatchObject({ status: 404 });
    }
    expectMisdirected(reports, '/webhook', '/webhooks');
    pass(59_999);
    await send('/webhook');
    expect(reports).toHaveLength(1);
    pass(1);
    await send('/webhook');
    expectMisdirected(reports.slice(1), '/webhook', '/webhooks');
    expect(await send('/webhooks'), 'handlers can still be reached').toMatchObject({ status: 200 });
  });

  test('is reported after those of a stranger without the key for other paths', async () => {
    const { receiver, reports } = receiverWithReports();
    const send = await serve(toNode(receiver, { path: '/webhooks' }));
    for (const path of ['/', '/wp-login.php', '/', '/api']) await send(path, {}, 'not the key');
    await send('/webhook');
    expectMisdirected(reports.slice(-1), '/webhook', '/webhooks');
    expect(reports).toHaveLength(4);
  });

  test('is reported again after a flood for any number of paths, whose own reports are few', async () => {
    const { receiver, reports } = receiverWithReports();
    const pass = stoppedClock();
    const send = await serve(toNode(receiver, { path: '/webhooks' }));
    for (let sent = 0; sent < 200; sent += 1) await send(`/${sent}`, {}, 'not the key');
    await send('/webhook');
    expect(reports).toHaveLength(5);
    pass(60_000);
    await send('/webhook');
    expectMisdirected(reports.slice(5), '/webhook', '/webhooks');
    expect(reports[5]?.error?.message).toContain('; 196 for more paths were left out before');
    pass(60_000);
    await send('/webhook');
    expect(reports[6]?.error?.message).not.toContain('left out');
  });

  test('does not count as the first delivery: handlers can still be registered', async () => {
    const { receiver, reports } = receiverWithReports();
    const send = await serve(toNode(receiver, { path: '/webhooks' }));
    await send('/other');
    expect(reports).toHaveLength(1);
    expect(() => receiver.on('transfer.*', () => {})).not.toThrow();
  });

  test('is looked for under the header of the receiver', async () => {
    const { receiver, reports } = receiverWithReports({ signatureHeader: 'Acme-Signature' });
    const send = await serve(toNode(receiver, { path: '/webhooks' }));
    expect(await send('/other')).toMatchObject({ status: 404 });
    expect(reports).toEqual([]);
    expect(await send('/other', { 'acme-signature': 'AB'.repeat(32) })).toMatchObject({ status: 404 });
    expectMisdirected(reports, '/other', '/webhooks');
  });

  test.each([
    ['no signature', undefined],
    ['an empty one', ''],
    ['63 digits', 'a'.repeat(63)],
    ['64 characters that are not hex', 'g'.repeat(64)],
  ])('is none with %s, and is not reported', async (_, signature) => {
    const { receiver, reports } = receiverWithReports();
    const url = await listenUntilTheEnd(toNode(receiver, { path: '/other' }));
    const headers: Record<string, string> =
      signature === undefined ? {} : { 'x-service-signature': signature };
    expect((await fetch(`${url}/webhooks`, { method: 'POST', headers, body: '{}' })).status).toBe(404);
    expect(reports).toEqual([]);
  });

  test('cannot forge or flood the log with its path', async () => {
    const print = vi.spyOn(console, 'error').mockImplementation(() => {});
    try {
      const receiver = createReceiver({ signingKey: KEY }).on('*', () => {});
      const send = await serve(toNode(receiver, { path: '/webhooks' }));
      for (let sent = 0; sent < 3; sent += 1) await send(`/${'"é'.repeat(1_000)}`);
      const [, ...lines] = print.mock.calls.flat(); // The first says that dead letters are missing.
      expect(lines).toHaveLength(1);
      expect(lines[0]).toMatch(/^posthorn: rejected 404 not_found: .*serves "\/webhooks".*$/);
      expect(String(lines[0]).length).toBeLessThan(1_000);
    } finally {
      print.mockRestore();
    }
  });

  test('gets its 404 without a receiver that reports, too', async () => {
    const { receiver } = receiverWithReports();
    const onlyReceive: Pick<Receiver, 'receive'> = { receive: (delivery) => receiver.receive(delivery) };
    const send = await serve(toNode(onlyReceive, { path: '/webhooks' }));
    expect([(await send('/other')).status, (await send('/webhooks')).status]).toEqual([404, 200]);
  });

  test('is reported on HTTP/2', async () => {
    const { createServer: createHttp2Server } = await import('node:http2');
    const { receiver, reports } = receiverWithReports();
    const server = createHttp2Server(toNode(receiver, { path: '/webhooks' }));
    const session = connect(await listenUntilTheEnd(server));
    onTestFinished(() => session.destroy());
    const stream = session.request({
      ':method': 'POST',
      ':path': '/other',
      ...signedHeaders('{}', { key: KEY }),
    });
    const status = await new Promise((resolve) => {
      stream.on('response', (headers) => resolve(headers[':status']));
      stream.resume().end('{}');
    });
    expect(status).toBe(404);
    expectMisdirected(reports, '/other', '/webhooks');
  });
});

test('a second receiver on the same path is never asked: one receiver takes both keys', async () => {
  const first = receiverWithReports();
  const second = createReceiver({ signingKey: 'second' }).on('*', () => {});
  const handlers: NodeHandler[] = [
    toNode(first.receiver, { path: '/webhooks' }),
    toNode(second, { path: '/webhooks' }),
  ];
  const send = await serve((request, response) => {
    const [one, two] = handlers;
    one?.(request, response, () => two?.(request, response));
  });
  expect(await send('/webhooks', {}, 'second')).toMatchObject({ status: 403 });
  expect(first.reports).toMatchObject([{ code: 'signature_mismatch' }]);

  const both = createReceiver({ signingKey: [KEY, 'second'] }).on('*', () => {});
  const keyIndexes: unknown[] = [];
  both.observe(({ keyIndex }) => keyIndexes.push(keyIndex));
  const sendToBoth = await serve(toNode(both, { path: '/webhooks' }));
  await sendToBoth('/webhooks');
  await sendToBoth('/webhooks', {}, 'second');
  expect(keyIndexes).toEqual([0, 1]);
});
