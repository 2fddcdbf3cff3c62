import { describe, expect, test } from 'vitest';
import { page, webhook } from './literal-bodies.ts';
import { json, type Reply } from './literal-service.ts';
import { openClient } from './open-client.ts';
import { failureOf, SIGNING_KEY } from './secrets.ts';

const url = 'https://example.com/hooks';
const GET = 'GET /payments/na/webhooks/WH2';
const LIST = 'GET /payments/na/webhooks?limit=100&offset=0';
const found = webhook('WH2');
const list = json(page([webhook('WH1', { url: '"https://example.com/other"' }), found]));

/** How a service may answer GET of one webhook, whose shape is not shown. */
const otherwise: readonly [string, Reply][] = [
  ['404 by its router', { status: 404, body: '<h1>Not Found</h1>' }],
  ['404 in other words', json('{"message":"no Route matched with those values"}', 404)],
  ['403, as some gateways for an unknown route', json('{"message":"Missing Authentication Token"}', 403)],
  ['405', { status: 405 }],
  ['a redirect', { status: 301, headers: { location: '/elsewhere' } }],
  ['the webhook inside another object', json(`{"webhook":${found}}`)],
  ['a list', json(page([found]))],
  ['nothing', { status: 204 }],
];

describe.each(otherwise)(
  'where GET of one webhook is answered with %s, it is read from the list',
  (_, reply) => {
    test('by ensure with an id', async () => {
      const { webhooks, lines } = await openClient(reply, list);
      expect(await webhooks.ensure({ id: 'WH2', url })).toEqual({ webhook: JSON.parse(found), changes: [] });
      expect(lines()).toEqual([GET, LIST]);
    });

    test('by a rotation, and by one that is resumed', async () => {
      const on = webhook('NEW', { secret_signing_key: `"${SIGNING_KEY}"` });
      const off = webhook('NEW', { enabled: 'false' });
      const old = json(webhook('WH2', { enabled: 'false' }));
      const { webhooks } = await openClient(
        ...[reply, list, list, json(on), json(off), json(webhook('NEW')), old],
        ...[reply, list, reply, json(page([found, off])), json(webhook('NEW')), old],
      );
      const rotated = { webhook: { id: 'NEW', enabled: true }, previous: { id: 'WH2', enabled: false } };
      expect(await webhooks.rotate('WH2', { onSigningKey() {} })).toMatchObject(rotated);
      const resume = { id: 'NEW', signingKey: SIGNING_KEY };
      expect(await webhooks.rotate('WH2', { onSigningKey() {}, resume })).toMatchObject(rotated);
    });
  },
);

test('501 is, too, once it has been tried again', async () => {
  const { webhooks, lines } = await openClient(...Array<Reply>(4).fill({ status: 501 }), list);
  expect(await webhooks.ensure({ id: 'WH2', url })).toMatchObject({ webhook: { id: 'WH2' } });
  expect(lines()).toEqual([GET, GET, GET, GET, LIST]);
});

test('one that the list does not have either: the first error', async () => {
  const { webhooks, lines } = await openClient({ status: 405 }, json(page([webhook('WH1')])));
  expect(await failureOf(() => webhooks.ensure({ id: 'WH2', url }))).toMatchObject({
    code: 'service_refused',
    status: 405,
    request: GET,
  });
  expect(lines()).toEqual([GET, LIST]);
});

test.each<[string, Reply]>([
  ['an unknown id, as the interface shows it', json('{"status":404,"message":"Webhook not found"}', 404)],
  ['wrong credentials', { status: 401 }],
])('%s is no reason to read the list', async (_, reply) => {
  const { webhooks, lines } = await openClient(reply);
  expect(await failureOf(() => webhooks.ensure({ id: 'WH2', url }))).toHaveProperty(
    'code',
    'service_refused',
  );
  expect(lines()).toEqual([GET]);
});

test('the list is read no further than the webhook', async () => {
  const others = Array.from({ length: 99 }, (_, index) => webhook(`WH1${index}`));
  const { webhooks, lines } = await openClient({ status: 405 }, json(page([...others, found])));
  expect(await webhooks.ensure({ id: 'WH2', url })).toMatchObject({ webhook: { id: 'WH2' } });
  expect(lines()).toEqual([GET, LIST]);
});
