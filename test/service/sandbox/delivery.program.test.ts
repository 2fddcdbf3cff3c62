import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { ADMINISTRATOR, createWebhook, openSandbox } from './opened-sandbox.ts';
import { openRecorded, record } from './recording-endpoint.ts';

/** What openssl makes of the bytes. */
function opensslHmac(bytes: Buffer, key: string): string {
  const output = execFileSync('openssl', ['dgst', '-sha256', '-hmac', key], {
    input: bytes,
    encoding: 'utf8',
  });
  return output.trim().replace(/^.*= ?/, '');
}

test('openssl is read as it prints: the second case of RFC 4231', () => {
  expect(opensslHmac(Buffer.from('what do ya want for nothing?'), 'Jefe')).toBe(
    '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843',
  );
});

test('an event is posted as JSON: type, id, created_at and data, signed over the exact bytes', async () => {
  const opened = await openSandbox();
  const endpoint = await record();
  const { secret_signing_key } = await createWebhook(opened, `{"url":"${endpoint.url}?a=b"}`);
  opened.sandbox.send({
    type: 'transfer.succeeded',
    id: 'evt_1',
    data: { id: 'TR1', state: 'SUCCEEDED', amount: 1250, tags: { name: 'Zoë ✓ 😀' } },
  });
  const { method, path, headers, bytes } = await endpoint.received.first(() => true);
  expect([method, path]).toEqual(['POST', '/hooks?a=b']);
  expect(bytes.toString('utf8')).toBe(
    '{"type":"transfer.succeeded","id":"evt_1","created_at":"2026-03-01T12:00:00.500Z",' +
      '"data":{"id":"TR1","state":"SUCCEEDED","amount":1250,"tags":{"name":"Zoë ✓ 😀"}}}',
  );
  expect(headers).toMatchObject({
    'content-type': 'application/json',
    'content-length': String(bytes.length),
    'x-service-signature': opensslHmac(bytes, secret_signing_key),
  });
});

test('the header of the signature can bear another name', async () => {
  const opened = await openSandbox({ signatureHeader: 'X-Vendor-Signature' });
  const endpoint = await record();
  const { secret_signing_key } = await createWebhook(opened, `{"url":"${endpoint.url}"}`);
  opened.sandbox.send({ type: 'dispute.won' });
  const { headers, bytes } = await endpoint.received.first(() => true);
  expect(headers['x-vendor-signature']).toBe(opensslHmac(bytes, secret_signing_key));
  expect(headers).not.toHaveProperty('x-service-signature');
});

test.each(['api.localhost', 'LocalHost.', '127.1', '0x7f000001', '0.0.0.0'])(
  'an endpoint at %s is reached on this machine',
  async (host) => {
    const opened = await openSandbox();
    const endpoint = await record();
    await createWebhook(opened, `{"url":"${endpoint.url.replace('127.0.0.1', host)}"}`);
    const { id } = await opened.settle({ type: 'dispute.won' });
    expect(opened.sandbox.deliveries({ event: id })).toMatchObject([{ status: 204 }]);
  },
);

test('each webhook signs with its own key', async () => {
  const opened = await openSandbox();
  const endpoint = await record();
  const one = await createWebhook(opened, `{"url":"${endpoint.url}/1"}`);
  const two = await createWebhook(opened, `{"url":"${endpoint.url}/2"}`);
  await opened.settle({ type: 'merchant.created' });
  const keys = new Map([
    ['/hooks/1', one.secret_signing_key],
    ['/hooks/2', two.secret_signing_key],
  ]);
  expect(endpoint.received.all).toHaveLength(2);
  for (const { path = '', headers, bytes } of endpoint.received.all) {
    expect(headers['x-service-signature']).toBe(opensslHmac(bytes, keys.get(path) ?? ''));
  }
});

const credentials = {
  NONE: ['{"type":"NONE"}', undefined],
  // printf 'service:pass word:ü' | base64
  BASIC: [
    '{"type":"BASIC","basic":{"username":"service","password":"pass word:ü"}}',
    'Basic c2VydmljZTpwYXNzIHdvcmQ6w7w=',
  ],
  BEARER: ['{"type":"BEARER","bearer":{"token":"t0k3n.abc"}}', 'Bearer t0k3n.abc'],
} as const;

test.each(Object.entries(credentials))('%s credentials', async (_, [authentication, expected]) => {
  const { opened, endpoint } = await openRecorded(`,"authentication":${authentication}`);
  opened.sandbox.send({ type: 'transfer.created' });
  const { headers } = await endpoint.received.first(() => true);
  expect(headers.authorization).toBe(expected);
});

test('new credentials and a new url hold at once: for later events, and for retries of earlier ones', async () => {
  const opened = await openSandbox();
  const old = await record((response) => void response.writeHead(500).end());
  const renewed = await record();
  const { id } = await createWebhook(opened, `{"url":"${old.url}","authentication":${credentials.BASIC[0]}}`);
  await opened.settle({ type: 'transfer.created', id: 'earlier' });
  const change = `{"url":"${renewed.url}","authentication":${credentials.BEARER[0]}}`;
  await opened.call('PUT', `/payments/na/webhooks/${id}`, ADMINISTRATOR, change);
  await opened.settle({ type: 'transfer.created', id: 'later' });
  await opened.sandbox.clock.advance(60_000);
  expect(old.received.all.map(({ body }) => body.id)).toEqual(['earlier']);
  expect(old.received.all.map(({ headers }) => headers.authorization)).toEqual([credentials.BASIC[1]]);
  expect(renewed.received.all.map(({ body }) => body.id)).toEqual(['later', 'earlier']);
  expect(renewed.received.all.map(({ headers }) => headers.authorization)).toEqual([
    'Bearer t0k3n.abc',
    'Bearer t0k3n.abc',
  ]);
});

test('BASIC changed to NONE sends no credentials any more', async () => {
  const opened = await openSandbox();
  const endpoint = await record();
  const { id } = await createWebhook(
    opened,
    `{"url":"${endpoint.url}","authentication":${credentials.BASIC[0]}}`,
  );
  const path = `/payments/na/webhooks/${id}`;
  const reply = await opened.call('PUT', path, ADMINISTRATOR, '{"authentication":{"type":"NONE"}}');
  expect(reply.body).toMatchObject({ authentication: { type: 'NONE' } });
  opened.sandbox.send({ type: 'transfer.created' });
  const { headers } = await endpoint.received.first(() => true);
  expect(headers).not.toHaveProperty('authorization');
});
