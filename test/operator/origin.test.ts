import { describe, expect, test } from 'vitest';
import { expectGuarded, expectProblem } from './expectations.ts';
import { type Answer, fetchOperator, type MountOptions } from './mounts.ts';
import { createOperated, idOf, letters } from './operated.ts';

const DEED = '/api/dead-letters/replay';

type Headers = Readonly<Record<string, string | undefined>>;

/** Sends a deed with these headers, and tells how many events were handled. */
async function deed(
  headers: Headers,
  options: MountOptions = {},
): Promise<Answer & { readonly handled: number }> {
  const { handled, receiver } = createOperated({ parked: letters(1) });
  const answer = await fetchOperator(receiver, options)(DEED, { headers, body: { ids: [idOf(1)] } });
  return { ...answer, handled: handled.length };
}

const SITE = 'https://backoffice.example.com';
const configured = { origin: SITE };

interface Row {
  readonly name: string;
  readonly headers: Headers;
  readonly options?: MountOptions;
}

const row = (name: string, headers: Headers, options: MountOptions = {}): Row => ({ name, headers, options });

const allowed: readonly Row[] = [
  row('a program, which sends neither header', {}),
  row('a page of the same origin', { 'sec-fetch-site': 'same-origin' }),
  row('a page of the same origin behind a proxy that changes Host', {
    'sec-fetch-site': 'same-origin',
    origin: SITE,
    host: '10.0.0.7:3000',
  }),
  row(
    'a page of the same origin, whatever the option says',
    { 'sec-fetch-site': 'same-origin', origin: 'https://other.example' },
    configured,
  ),
  row('a page of the Host, without TLS', { origin: 'http://backoffice:3000', host: 'backoffice:3000' }),
  row('a page of the Host, behind a proxy that ends TLS', { origin: SITE, host: 'backoffice.example.com' }),
  row('a Host that says the default port of https', { origin: SITE, host: 'backoffice.example.com:443' }),
  row('a Host that says the default port of http', { origin: 'http://a.example', host: 'a.example:80' }),
  row('a Host in capitals', { origin: SITE, host: 'Backoffice.Example.COM' }),
  row('a Host that is an address of IPv6', { origin: 'http://[::1]:3000', host: '[::1]:3000' }),
  row('the host of the address, if there is no Host', { origin: 'http://127.0.0.1' }),
  row('the origin of the option', { origin: SITE, host: '10.0.0.7' }, configured),
];

const refused: readonly Row[] = [
  ...['cross-site', 'same-site', 'none', 'Same-Origin', 'same-origin, same-origin', ''].flatMap(
    (site): Row[] => [
      row(`Sec-Fetch-Site: ${site}`, { 'sec-fetch-site': site }),
      row(`Sec-Fetch-Site: ${site} with the right Origin`, {
        'sec-fetch-site': site,
        origin: SITE,
        host: 'backoffice.example.com',
      }),
    ],
  ),
  ...['https://evil.example', 'null', '', 'backoffice.example.com', 'https://', '*'].flatMap(
    (origin): Row[] => [
      row(`Origin: ${origin}`, { origin, host: 'backoffice.example.com' }),
      row(`Origin: ${origin} with the option`, { origin, host: 'backoffice.example.com' }, configured),
    ],
  ),
  row('an opaque origin that has the Host in it', { origin: 'capacitor://localhost', host: 'localhost' }),
  row('the scheme of an extension', { origin: 'chrome-extension://abc', host: 'abc' }),
  row('a Host in the user of a URL', { origin: 'https://a.example@evil.example', host: 'a.example' }),
  row('a URL with the Host and a user', { origin: 'https://evil.example@a.example', host: 'a.example' }),
  row('a URL with a path', { origin: 'https://a.example/x', host: 'a.example' }),
  row('another port of the Host', { origin: 'http://a.example:81', host: 'a.example' }),
  row('another port than the default one', { origin: 'http://a.example', host: 'a.example:443' }),
  row('a Host below', { origin: 'https://x.a.example', host: 'a.example' }),
  row('a Host above', { origin: 'https://a.example', host: 'x.a.example' }),
  row('a Host that is not one', { origin: 'https://a.example', host: 'a example' }),
  row('the Host, if the option has another origin', { origin: 'http://a', host: 'a' }, configured),
  row('the other scheme than the option', { origin: 'http://backoffice.example.com' }, configured),
  row('another port than the option', { origin: `${SITE}:8443` }, configured),
];

describe('a deed is allowed for', () => {
  test.each(allowed)('$name', async ({ headers, options }) => {
    expect(await deed(headers, options)).toMatchObject({ status: 200, handled: 1 });
  });
});

describe('a deed is refused for', () => {
  test.each(refused)('$name', async ({ headers, options }) => {
    const answer = await deed(headers, options);
    expectProblem(answer, 403, 'origin_foreign');
    expect(answer.handled).toBe(0);
  });
});

test('the refusal names the header, and the way out', async () => {
  expect((await deed({ 'sec-fetch-site': 'cross-site' })).body.detail).toBe(
    'a deed must come from the same origin, and this one has Sec-Fetch-Site: cross-site: send it from a ' +
      'page of the same origin',
  );
  expect((await deed({ origin: SITE, host: '10.0.0.7' })).body.detail).toMatch(
    /has Origin: https:\/\/backoffice\.example\.com: if a proxy changes Host, set the option origin/,
  );
  expect((await deed({ origin: 'null' }, configured)).body.detail).toMatch(
    /has Origin: null: the option origin is https:\/\/backoffice\.example\.com$/,
  );
});

test('a list is answered wherever the request comes from: a page of another origin cannot read it', async () => {
  const ask = fetchOperator(createOperated().receiver, configured);
  for (const headers of [{ 'sec-fetch-site': 'cross-site' }, { origin: 'https://evil.example' }, {}]) {
    const answer = await ask('/api/dead-letters', { headers });
    expect(answer.status).toBe(200);
    expectGuarded(answer);
  }
});

test('a browser that asks before a deed of another origin gets no permission', async () => {
  const ask = fetchOperator(createOperated().receiver);
  const headers = {
    origin: 'https://evil.example',
    'access-control-request-method': 'POST',
    'access-control-request-headers': 'content-type',
  };
  const answer = await ask(DEED, { method: 'OPTIONS', headers });
  expectProblem(answer, 405, 'method_not_allowed');
});

describe('the type of a body', () => {
  test.each([
    'application/json',
    'application/json; charset=utf-8',
    'APPLICATION/JSON',
    ' application/json ;charset="utf-8"',
  ])('can be %s', async (type) => {
    expect(await deed({ 'content-type': type })).toMatchObject({ status: 200, handled: 1 });
  });

  // A form, or a request without permission, can send the first three (Fetch, CORS-safelisted headers).
  test.each([
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'text/plain;charset=utf-8',
    'text/plain; application/json',
    'application/jsonp',
    'application/problem+json',
    'application/json, text/plain',
    '',
  ])('cannot be "%s"', async (type) => {
    const answer = await deed({ 'content-type': type });
    expectProblem(answer, 415, 'media_type_unsupported');
    expect(answer.handled).toBe(0);
  });

  test('cannot be left out', async () => {
    const { handled, receiver } = createOperated({ parked: letters(1) });
    // A body of bytes has no type of its own.
    const body = Buffer.from(JSON.stringify({ ids: [idOf(1)] }));
    const answer = await fetchOperator(receiver)(DEED, { headers: { 'content-type': undefined }, body });
    expectProblem(answer, 415, 'media_type_unsupported');
    expect(handled).toEqual([]);
  });
});
