import { ConfigurationError, createReceiver, defineProvider, type Provider } from 'posthorn';
import { bankingService, standardWebhooks, stripe } from 'posthorn/providers';
import { createEvent, deliver, signedHeaders } from 'posthorn/testing';
import { describe, expect, test } from 'vitest';
import { serve } from '../support/served.ts';

const key = Buffer.from('a key for all of them, in base64').toString('base64');
const bank = bankingService({ catalog: { payout: ['created'] } });

describe.each<{ name: string; provider: Provider; type: string; data: object }>([
  { name: 'bankingService', provider: bank, type: 'payout.created', data: { data: { amount: 12 } } },
  { name: 'standardWebhooks', provider: standardWebhooks(), type: 'a.b', data: { data: { amount: 12 } } },
  { name: 'stripe', provider: stripe(), type: 'a.b', data: { data: { object: { amount: 12 } } } },
])('the testing kit plays $name:', ({ provider, type, data }) => {
  test.each(['over HTTP', 'without a server'])('an event that it creates is handled, %s', async (form) => {
    const seen: object[] = [];
    const receiver = createReceiver({ provider, signingKey: key }).observe(() => {});
    receiver.on(type, (event) => seen.push(event));
    const event = createEvent(type, { amount: 12 }, { provider });
    const to = form === 'over HTTP' ? await serve(receiver) : receiver;
    for (const outcome of ['processed', 'duplicate'])
      expect(await (await deliver(to, event, { provider, key })).json()).toEqual({ outcome, id: event.id });
    expect((await deliver(to, event, { provider, key: 'AAAA' })).status).toBe(403);
    expect(seen).toEqual([event]);
    expect(event).toMatchObject({ type, ...data });
  });

  test('without data it gets a sample, and each one has its own id', () => {
    const [one, other] = [
      createEvent(type, undefined, { provider }),
      createEvent(type, undefined, { provider }),
    ];
    expect(one.id).not.toBe(other.id);
    expect(one.data).toEqual(expect.any(Object));
  });
});

test('a type that the provider does not list throws, and names the nearest one', () => {
  expect(() => Reflect.apply(createEvent, undefined, ['payout.creatd', {}, { provider: bank }])).toThrow(
    'got the type "payout.creatd", which banking-service does not list. Did you mean "payout.created"?',
  );
  // @ts-expect-error The type is not in the catalog.
  expect(() => createEvent('payout.sent', {}, { provider: bank })).toThrow(ConfigurationError);
  expect(() => createEvent('any.type', {}, { provider: stripe() })).not.toThrow();
});

test('a signature header is set where the provider takes one, and else refused by name', () => {
  const signatureHeader = 'x-vendor-signature';
  expect(signedHeaders('{}', { provider: bank, key, signatureHeader })).toHaveProperty(signatureHeader);
  expect(() => signedHeaders('{}', { provider: stripe(), key, signatureHeader })).toThrow(
    /^signatureHeader cannot be set, because the provider "stripe" names the header/,
  );
});

test('a provider that cannot be played is refused by name', async () => {
  const provider = defineProvider({
    name: 'acme',
    signature: { verify: () => true },
    readEvent: () => ({ id: 'e1', type: 'a.b', event: { type: 'a.b' } }),
    answerWithinMs: 10_000,
    retries: 'none',
  });
  const refusal = 'the provider "acme" cannot be played: give it the member testing';
  expect(() => createEvent('a.b', {}, { provider })).toThrow(refusal);
  expect(() => signedHeaders('{}', { provider, key })).toThrow(refusal);
  const receiver = createReceiver({ provider, signingKey: key });
  await expect(deliver(receiver, {}, { provider, key })).rejects.toThrow(ConfigurationError);
});

test('credentials and content type stand beside the signature', () => {
  const authentication = { type: 'BEARER', bearer: { token: 'secret' } } as const;
  expect(signedHeaders('{}', { provider: stripe(), key, authentication })).toEqual({
    'content-type': 'application/json',
    'stripe-signature': expect.stringMatching(/^t=\d+,v1=[0-9a-f]{64}$/),
    authorization: 'Bearer secret',
  });
});

test('a sender gets the event of a body that does not name it', async () => {
  const provider = defineProvider({
    name: 'acme',
    signature: { verify: () => true },
    readEvent: ({ headers }) => {
      const event = { id: headers.get('acme-id') ?? '', type: headers.get('acme-type') ?? '' };
      return { ...event, event };
    },
    answerWithinMs: 10_000,
    retries: 'none',
    testing: {
      createEvent: () => ({ amount: 12 }),
      sign: ({ event }) => ({ 'acme-id': event?.id ?? 'none', 'acme-type': event?.type ?? 'none' }),
    },
  });
  const ids: string[] = [];
  const receiver = createReceiver({ provider, signingKey: key }).observe(() => {});
  receiver.on('*', ({ id, type }) => {
    ids.push(`${type} ${id}`);
  });
  const created = createEvent('a.b', {}, { provider });
  for (const event of [created, created]) await deliver(receiver, event, { provider, key });
  await deliver(receiver, '{}', { provider, key, event: { id: '1', type: 'a.c' } });
  await deliver(receiver, { ...created }, { provider, key });
  expect(ids).toEqual([expect.stringMatching(/^a\.b evt_/), 'a.c 1', 'none none']);
});
