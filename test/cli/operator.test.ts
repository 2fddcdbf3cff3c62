import { createServer } from 'node:http';
import { describe, expect, test } from 'vitest';
import { createRequestListener } from '../../src/cli/operator/request-listener.ts';
import { Session } from '../../src/cli/operator/session.ts';
import { RawConnection } from '../adapters/raw-connection.ts';
import { createOperated, letters } from '../operator/operated.ts';
import { listenUntilTheEnd } from '../support/listen.ts';
import { act, ask, signIn } from './operator-requests.ts';

async function open() {
  const session = new Session();
  const operated = createOperated({ parked: letters(2) });
  const url = await listenUntilTheEnd(createServer(createRequestListener(operated.receiver, session)));
  return { ...operated, url: `${url}/`, address: `${url}/?token=${session.token}`, token: session.token };
}

const PAGE = expect.stringContaining('<script type="module" src="page/page.js">');
const NOT_SIGNED_IN = { status: 403, body: expect.stringContaining('This browser is not signed in.') };
const WORN = { status: 403, body: expect.stringContaining('This address does not work. Each works once') };

describe('the address of posthorn operator', () => {
  test('is traded for a cookie that no script and no other site can use', async () => {
    const { address, url } = await open();
    const { body, headers, status } = await ask(address);
    expect(status).toBe(200);
    expect(body).toContain('<meta http-equiv="refresh" content="0; url=/">');
    expect(headers['set-cookie']).toEqual([
      expect.stringMatching(/^posthorn_operator_[0-9a-f]{16}=[\w-]{43}; HttpOnly; SameSite=Strict; Path=\/$/),
    ]);
    expect(headers).toMatchObject({
      'cache-control': 'no-store',
      'content-security-policy': expect.stringMatching(/^default-src 'none';.* frame-ancestors 'none'$/),
      'content-type': 'text/html; charset=utf-8',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
    });
    const [cookie = ''] = headers['set-cookie']?.[0]?.split(';') ?? [];
    expect(await ask(url, { headers: { cookie } })).toMatchObject({ status: 200, body: PAGE });
  });

  test('has a token that the cookie does not have', async () => {
    const { address, token } = await open();
    expect(token).toMatch(/^[\w-]{43}$/);
    expect(await signIn(address)).not.toContain(token);
  });

  test('works once', async () => {
    const { address } = await open();
    await signIn(address);
    const again = await ask(address);
    expect(again).toMatchObject(WORN);
    expect(again.body).toContain('start the command posthorn operator again, and open its new address');
    expect(again.headers).not.toHaveProperty('set-cookie');
  });

  test('opened again by the browser that is signed in leads to the page', async () => {
    const { address } = await open();
    const again = await ask(address, { headers: { cookie: await signIn(address) } });
    expect(again).toMatchObject({ status: 200, body: expect.stringContaining('http-equiv="refresh"') });
    expect(again.headers).not.toHaveProperty('set-cookie');
  });

  test.each([
    ['with garbage behind it', (token: string) => `?token=${token}x`],
    ['with a blank behind it', (token: string) => `?token=${token}%20`],
    ['cut', (token: string) => `?token=${token.slice(0, -1)}`],
    ['empty', () => '?token='],
    ['very long', (token: string) => `?token=${token.repeat(200)}`],
    ['twice', (token: string) => `?token=${token}&token=${token}`],
    ['twice, once empty', (token: string) => `?token=&token=${token}`],
    ['not encoded', () => '?token=%'],
    ['of another command', () => `?token=${new Session().token}`],
  ])('does not work with a token %s, which does not use it up', async (_name, queryOf) => {
    const { address, token, url } = await open();
    const wrong = await ask(`${url}${queryOf(token)}`);
    expect(wrong).toMatchObject(WORN);
    expect(wrong.headers).not.toHaveProperty('set-cookie');
    expect(await signIn(address)).not.toBe('');
  });

  test.each(['HEAD', 'POST'])('is not used up by %s', async (method) => {
    const { address } = await open();
    const answer = await ask(address, { method });
    expect(answer).toMatchObject({ status: 403 });
    expect(answer.headers).not.toHaveProperty('set-cookie');
    expect(await signIn(address)).not.toBe('');
  });

  test('takes the token on no other path', async () => {
    const { token, url } = await open();
    expect(await ask(`${url}api/receivers?token=${token}`)).toMatchObject({ status: 403 });
    expect(await ask(`${url}page/page.js?token=${token}`)).toMatchObject({ status: 403 });
  });
});

describe('a browser without the cookie', () => {
  const cookies = [
    ['none', () => ''],
    ['one with another value', (cookie: string) => `${cookie.split('=')[0]}=another`],
    ['one with more behind it', (cookie: string) => `${cookie}x`],
    ['one of another name', (cookie: string) => `x${cookie}`],
    ['the value alone', (cookie: string) => cookie.split('=')[1] ?? ''],
  ] as const;

  test.each(cookies)('is told in words what to open: %s', async (_name, of) => {
    const { address, url } = await open();
    const cookie = of(await signIn(address));
    const answer = await ask(url, { headers: { cookie } });
    expect(answer).toMatchObject(NOT_SIGNED_IN);
    expect(answer.headers['content-type']).toBe('text/html; charset=utf-8');
    expect(await ask(url, { method: 'HEAD', headers: { cookie } })).toMatchObject({ status: 403, body: '' });
  });

  test.each(cookies)('gets nothing of the interface and does nothing: %s', async (_name, of) => {
    const { address, left, url } = await open();
    const cookie = of(await signIn(address));
    const forbidden = { status: 403, body: expect.stringContaining('"code":"forbidden"') };
    for (const path of ['api/receivers', 'api/dead-letters', 'page/page.js'])
      expect(await ask(`${url}${path}`, { headers: { cookie } })).toMatchObject(forbidden);
    expect(await act(url, 'replay', cookie, { selection: {} })).toMatchObject(forbidden);
    expect(left.size).toBe(2);
  });
});

describe('a browser with the cookie', () => {
  test('shows, replays and drops, under the name of the user', async () => {
    const { address, handled, left, log, url } = await open();
    const cookie = await signIn(address);
    const shown = await ask(`${url}api/dead-letters/evt_001`, { headers: { cookie } });
    expect(JSON.parse(shown.body)).toMatchObject({ id: 'evt_001', body: expect.stringContaining('amount') });
    const replayed = await act(url, 'replay', cookie, { ids: ['evt_001'] });
    expect(JSON.parse(replayed.body)).toMatchObject({ results: [{ id: 'evt_001', outcome: 'processed' }] });
    const dropped = await act(url, 'drop', cookie, { ids: ['evt_002'] });
    expect(JSON.parse(dropped.body)).toMatchObject({ results: [{ id: 'evt_002', outcome: 'dropped' }] });
    expect({ handled, left: left.size }).toEqual({ handled: ['evt_001'], left: 0 });
    expect(log).toHaveBeenCalledWith(expect.stringMatching(/^posthorn: operator=\S+ replay /));
  });

  test('sends it beside the cookies of other servers, and of another command', async () => {
    const [first, second] = [await open(), await open()];
    const jar = `a=b; ${await signIn(first.address)}; ${await signIn(second.address)};c`;
    for (const { url } of [first, second])
      expect(await ask(url, { headers: { cookie: jar } })).toMatchObject({ status: 200, body: PAGE });
  });

  test.each<{ name: string; headers: Record<string, string> }>([
    { name: 'a page of another site', headers: { 'sec-fetch-site': 'cross-site' } },
    { name: 'a page of another port', headers: { 'sec-fetch-site': 'same-site' } },
    { name: 'a page of another origin', headers: { origin: 'http://127.0.0.1:1' } },
    { name: 'a form', headers: { 'content-type': 'text/plain' } },
  ])('does no deed for $name', async ({ headers }) => {
    const { address, left, url } = await open();
    const all = { cookie: await signIn(address), 'content-type': 'application/json', ...headers };
    const asked = { method: 'POST', headers: all, body: { selection: {} } };
    expect((await ask(`${url}api/dead-letters/drop`, asked)).status).toBeGreaterThanOrEqual(400);
    expect(left.size).toBe(2);
  });
});

describe('a request', () => {
  test.each(['localhost', 'localhost:5000', 'LOCALHOST:PORT', '127.0.0.1', '[::1]:PORT', 'a.localhost:1'])(
    'as through a tunnel is served: Host %s',
    async (name) => {
      const { address, url } = await open();
      const host = name.replace('PORT', new URL(url).port);
      const { headers, status } = await ask(address, { headers: { host } });
      expect(status).toBe(200);
      const [cookie = ''] = headers['set-cookie']?.[0]?.split(';') ?? [];
      expect(await ask(url, { headers: { host, cookie } })).toMatchObject({ status: 200, body: PAGE });
    },
  );

  test.each(['evil.example', 'localhost.evil.example', '10.0.0.1', '127.0.0.1@evil.example', 'a b', '\t'])(
    'for another host is refused, with the cookie too: %j',
    async (host) => {
      const { address, url } = await open();
      const refused = {
        status: 403,
        body: expect.stringContaining('is reached only as localhost, 127.0.0.1'),
      };
      expect(await ask(address, { headers: { host } })).toMatchObject(refused);
      const cookie = await signIn(address);
      for (const path of ['', 'api/receivers', 'page/page.js'])
        expect(await ask(`${url}${path}`, { headers: { host, cookie } })).toMatchObject(refused);
    },
  );

  test.each([
    ['localhost', 'evil.example'],
    ['evil.example', 'localhost'],
    ['localhost', 'localhost'],
  ])('for two hosts is refused, with the right token too: %s and %s', async (first, second) => {
    const { address, token, url } = await open();
    const connection = await RawConnection.open(url);
    const hosts = `host: ${first}\r\nhost: ${second}\r\n`;
    connection.write(`GET /?token=${token} HTTP/1.1\r\n${hosts}connection: close\r\n\r\n`);
    expect(await connection.answer()).toMatchObject({ status: 403 });
    expect(await signIn(address)).not.toBe('');
  });
});
