import { expect, test } from 'vitest';
import { ADMINISTRATOR, createWebhook, type OpenedSandbox, openSandbox } from './opened-sandbox.ts';

const PATH = '/payments/na/webhooks';

async function openWith(count: number): Promise<OpenedSandbox & { readonly ids: readonly string[] }> {
  const opened = await openSandbox();
  const ids: string[] = [];
  for (let index = 0; index < count; index += 1) {
    ids.push((await createWebhook(opened, '{"url":"https://example.com/"}')).id);
  }
  return { ...opened, ids };
}

function idsOf(body: unknown): string[] {
  const { _embedded } = body as { _embedded: { webhooks: { id: string }[] } };
  return _embedded.webhooks.map(({ id }) => id);
}

test('no webhooks are an empty list', async () => {
  const { call, url } = await openSandbox();
  const reply = await call('GET', PATH, ADMINISTRATOR);
  expect(reply).toMatchObject({ status: 200 });
  expect(reply.body).toEqual({
    _embedded: { webhooks: [] },
    _links: { self: { href: `${url}/payments/na/webhooks` } },
    page: { limit: 10, offset: 0, count: 0 },
  });
});

test('ten are listed unless told otherwise, the oldest first, without their keys', async () => {
  const { call, ids } = await openWith(12);
  const { body } = await call('GET', PATH, ADMINISTRATOR);
  expect(idsOf(body)).toEqual(ids.slice(0, 10));
  expect(body).toMatchObject({ page: { limit: 10, offset: 0, count: 12 } });
  const { _embedded } = body as { _embedded: { webhooks: { secret_signing_key: unknown }[] } };
  expect(_embedded.webhooks.map((webhook) => webhook.secret_signing_key)).toEqual(Array(10).fill(null));
});

test('limit and offset choose the page, and the link names it', async () => {
  const { call, ids, url } = await openWith(5);
  const { body } = await call('GET', `${PATH}?limit=2&offset=3`, ADMINISTRATOR);
  expect(idsOf(body)).toEqual(ids.slice(3, 5));
  expect(body).toMatchObject({
    _links: { self: { href: `${url}${PATH}?limit=2&offset=3` } },
    page: { limit: 2, offset: 3, count: 5 },
  });
  const beyond = await call('GET', `${PATH}?offset=5`, ADMINISTRATOR);
  expect(idsOf(beyond.body)).toEqual([]);
});

test.each(['1', '100'])('a limit of %s is taken', async (limit) => {
  const { call, ids } = await openWith(2);
  const { status, body } = await call('GET', `${PATH}?limit=${limit}`, ADMINISTRATOR);
  expect(status).toBe(200);
  expect(idsOf(body)).toEqual(ids.slice(0, Number(limit)));
});

test.each(['0', '101', 'abc', '-1', '1.5', '', '1&limit=2'])('a limit of "%s" is refused', async (limit) => {
  const { call } = await openSandbox();
  expect(await call('GET', `${PATH}?limit=${limit}`, ADMINISTRATOR)).toMatchObject({
    status: 400,
    body: { status: 400, message: 'Invalid limit', details: 'limit must be a whole number from 1 to 100' },
  });
});

test.each(['-1', 'abc'])('an offset of "%s" is refused', async (offset) => {
  const { call } = await openSandbox();
  expect(await call('GET', `${PATH}?offset=${offset}`, ADMINISTRATOR)).toMatchObject({
    status: 400,
    body: { status: 400, message: 'Invalid offset' },
  });
});
