import { lookup } from 'node:dns/promises';
import { hostname, networkInterfaces } from 'node:os';
import { createSandbox } from 'posthorn/sandbox';
import { describe, expect, onTestFinished, test } from 'vitest';
import { RawConnection } from '../../adapters/raw-connection.ts';
import { listenUntilTheEnd } from '../../support/listen.ts';
import { skipIf } from '../../support/skip-if.ts';
import { CONTROL, openSandbox } from './opened-sandbox.ts';

interface RawReply {
  readonly status: number;
  readonly body: unknown;
}

/** Sends a head as it is, `PORT` standing for the sandbox's, and reads the answer. */
async function send(url: string, ...lines: readonly string[]): Promise<RawReply> {
  const connection = await RawConnection.open(url);
  const head = [...lines, 'connection: close', '', ''].join('\r\n');
  connection.write(Buffer.from(head.replaceAll('PORT', new URL(url).port), 'latin1'));
  const { status, body } = await connection.answer();
  return { status, body: JSON.parse(body) };
}

const READ = 'GET /sandbox/clock HTTP/1.1';

describe('a request that names a host of this machine is served:', () => {
  test.each([
    'localhost:PORT',
    'LOCALHOST:PORT',
    'localhost.:PORT',
    'api.localhost:PORT',
    '127.0.0.1:PORT',
    '127.0.0.1.:PORT',
    '127.8.9.10:PORT',
    '127.1:PORT',
    '2130706433:PORT',
    '0x7f.1:PORT',
    '0x7F000001:PORT',
    '017700000001:PORT',
    '0.0.0.0:PORT',
    '[::1]:PORT',
    '[0:0:0:0:0:0:0:1]:PORT',
    '[::ffff:127.0.0.1]:PORT',
    '[::FFFF:7F00:1]:PORT',
    // As through a forwarded port.
    'localhost',
    'localhost:8080',
  ])('Host: %s', async (host) => {
    const { url } = await openSandbox();
    expect(await send(url, READ, `host: ${host}`)).toMatchObject({ status: 200 });
  });
});

describe('a request that names another host is refused with 421, and what to use instead:', () => {
  test.each([
    'evil.example:PORT',
    'evil.example',
    'localhost.evil.example:PORT',
    '127.0.0.1.evil.example:PORT',
    'localhostevil.example',
    'notlocalhost',
    'localhost..:PORT',
    '10.0.0.1:PORT',
    '128.1:PORT',
    '2147483649:PORT',
    '[::2]:PORT',
    '[::ffff:10.0.0.1]:PORT',
    '127.0.0.1,evil.example',
  ])('Host: %s', async (host) => {
    const { url } = await openSandbox();
    const reply = await send(url, READ, `host: ${host}`);
    expect(reply).toEqual({
      status: 421,
      body: { status: 421, message: 'Misdirected request', details: expect.stringContaining('--host') },
    });
  });

  test.each(['/', '/sandbox/deliveries', '/payments/na/webhooks', '/no/such/path'])('at %s', async (path) => {
    const { url } = await openSandbox();
    const reply = await send(url, `GET ${path} HTTP/1.1`, 'host: evil.example:PORT');
    expect(reply).toMatchObject({ status: 421 });
  });

  test('in a target of absolute form too', async () => {
    const { url } = await openSandbox();
    const read = (target: string): Promise<RawReply> =>
      send(url, `GET ${target}/sandbox/clock HTTP/1.1`, 'host: localhost:PORT');
    expect(await read('http://evil.example:PORT')).toMatchObject({ status: 421 });
    expect(await read('http://127.0.0.1@evil.example:PORT')).toMatchObject({ status: 421 });
    expect(await read('http://127.0.0.1:PORT')).toMatchObject({ status: 200 });
  });
});

describe('a request without exactly one host is refused with 400:', () => {
  test.each([
    ['none', []],
    ['an empty one', ['host:']],
    ['two alike', ['host: localhost:PORT', 'host: localhost:PORT']],
    ['a good one before another', ['host: localhost:PORT', 'host: evil.example']],
    ['a good one after another', ['host: evil.example', 'Host: localhost:PORT']],
    ['a user name', ['host: evil.example@localhost:PORT']],
    ['a path', ['host: localhost/.evil.example']],
    ['a backslash', ['host: localhost\\.evil.example']],
    ['a query', ['host: localhost?.evil.example']],
    ['a fragment', ['host: localhost#.evil.example']],
    ['white space', ['host: localhost evil.example']],
    ['a tab', ['host: local\thost']],
    ['a port that is none', ['host: localhost:99999']],
    ['an address without brackets', ['host: ::1']],
    ['bytes that are no name', ['host: \xff\xfe%00']],
  ])('%s', async (_, lines) => {
    const { url } = await openSandbox();
    expect(await send(url, READ, ...lines)).toMatchObject({
      status: 400,
      body: { status: 400, message: 'Invalid Host', details: expect.stringContaining('one Host header') },
    });
  });

  test('in HTTP/1.0 too', async () => {
    const { url } = await openSandbox();
    expect(await send(url, 'GET /sandbox/clock HTTP/1.0')).toMatchObject({ status: 400 });
  });
});

describe('what a browser sends for a page of another origin is refused with 403:', () => {
  test.each([
    'origin: http://evil.example',
    'origin: http://localhost:3000',
    'origin: https://localhost:PORT',
    'origin: null',
    'sec-fetch-site: cross-site',
    'sec-fetch-site: same-site',
  ])('%s', async (line) => {
    const { url } = await openSandbox();
    for (const request of [
      READ,
      'GET /sandbox/deliveries HTTP/1.1',
      'GET /payments/na/webhooks HTTP/1.1',
      'POST /sandbox/clock HTTP/1.1',
      'OPTIONS /sandbox/clock HTTP/1.1',
    ]) {
      expect(await send(url, request, 'host: localhost:PORT', line)).toEqual({
        status: 403,
        body: { status: 403, message: 'Foreign origin', details: expect.stringContaining('from a program') },
      });
    }
  });

  test('two origins, of which one is its own', async () => {
    const { url } = await openSandbox();
    const lines = ['host: localhost:PORT', 'origin: http://localhost:PORT', 'origin: http://evil.example'];
    expect(await send(url, READ, ...lines)).toMatchObject({ status: 403 });
  });
});

describe('what a browser sends for itself, or for a page of the sandbox, is served:', () => {
  test.each(['origin: http://localhost:PORT', 'sec-fetch-site: same-origin', 'sec-fetch-site: none'])(
    '%s',
    async (line) => {
      const { url } = await openSandbox();
      expect(await send(url, READ, 'host: localhost:PORT', line)).toMatchObject({ status: 200 });
    },
  );
});

const addresses = Object.values(networkInterfaces()).flatMap((list = []) => list);
const hasIPv6 = addresses.some(({ family }) => family === 'IPv6');
/** An IPv4 address of this machine that other machines could reach. */
const external = addresses.find(({ internal, family }) => !internal && family === 'IPv4')?.address;

describe('a sandbox that listens on another host', () => {
  test('is served under that name, in any case', async (context) => {
    const isKnown = await lookup(hostname()).then(
      () => true,
      () => false,
    );
    skipIf(context, !isKnown, 'the name of this machine has no address');
    const sandbox = createSandbox();
    onTestFinished(() => sandbox.close());
    const { url } = await sandbox.listen(0, hostname());
    for (const host of [hostname(), hostname().toUpperCase(), `${hostname()}.`, 'localhost']) {
      expect(await send(url, READ, `host: ${host}:PORT`)).toMatchObject({ status: 200 });
    }
    expect(await send(url, READ, 'host: evil.example:PORT')).toMatchObject({ status: 421 });
    expect((await fetch(`${url}/sandbox/clock`)).status).toBe(200);
    const { url: other } = await openSandbox();
    expect(await send(other, READ, `host: ${hostname()}:PORT`)).toMatchObject({ status: 421 });
  });

  async function expectServed(host: string): Promise<void> {
    const sandbox = createSandbox();
    onTestFinished(() => sandbox.close());
    const { url } = await sandbox.listen(0, host);
    expect((await fetch(`${url}/sandbox/clock`)).status).toBe(200);
    expect(await send(url, READ, 'host: evil.example:PORT')).toMatchObject({ status: 421 });
    // The connection did not come in over a network, so no other address leads here.
    expect(await send(url, READ, 'host: 10.0.0.1:PORT')).toMatchObject({ status: 421 });
  }

  test('is served at the url that listen gives for 0.0.0.0', () => expectServed('0.0.0.0'));

  test.for(['::1', '::'])('is served at the url that listen gives for %s', async (host, context) => {
    skipIf(context, !hasIPv6, 'this machine has no IPv6');
    await expectServed(host);
  });

  test('is served over a network at addresses, but at no other name', async (context) => {
    skipIf(context, external === undefined, 'this machine is on no network');
    const sandbox = createSandbox();
    onTestFinished(() => sandbox.close());
    const { port } = await sandbox.listen(0, '0.0.0.0');
    const url = `http://${external}:${port}`;
    expect((await fetch(`${url}/sandbox/clock`)).status).toBe(200);
    // Behind a translated address, as in a container.
    expect(await send(url, READ, 'host: 10.0.0.1:PORT')).toMatchObject({ status: 200 });
    expect(await send(url, READ, 'host: evil.example:PORT')).toMatchObject({ status: 421 });
    expect(await send(url, READ, `host: ${external}:PORT`, 'origin: http://evil.example')).toMatchObject({
      status: 403,
    });
  });
});

test('the application refuses the same on a server of somebody else', async () => {
  const sandbox = createSandbox();
  onTestFinished(() => sandbox.close());
  const url = await listenUntilTheEnd(sandbox.app);
  expect(await send(url, READ, 'host: localhost:PORT')).toMatchObject({ status: 200 });
  expect(await send(url, READ, 'host: evil.example:PORT')).toMatchObject({ status: 421 });
  expect(await send(url, READ, 'host: localhost:PORT', 'origin: null')).toMatchObject({ status: 403 });
});

test('a refused request changes nothing', async () => {
  const { url, call, sandbox } = await openSandbox();
  const lines = ['content-type: application/json', 'content-length: 15'];
  const now = sandbox.clock.now();
  for (const foreign of [
    ['host: evil.example:PORT'],
    ['host: localhost:PORT', 'origin: http://evil.example'],
  ]) {
    const head = ['POST /sandbox/clock HTTP/1.1', ...foreign, ...lines, 'connection: close', '', ''];
    const connection = await RawConnection.open(url);
    connection.write(`${head.join('\r\n').replaceAll('PORT', new URL(url).port)}{"advanceMs":5}`);
    expect((await connection.answer()).status).toBeGreaterThanOrEqual(403);
  }
  expect(sandbox.clock.now()).toBe(now);
  expect((await call('POST', '/sandbox/clock', CONTROL, '{"advanceMs":5}')).status).toBe(200);
});
