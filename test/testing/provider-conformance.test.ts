import { createHmac } from 'node:crypto';
import { ConfigurationError, defineProvider, hmacSignature, type Provider } from 'posthorn';
import { bankingService, github, shopify, slack, standardWebhooks, stripe } from 'posthorn/providers';
import { type ProviderSamples, providerConformance } from 'posthorn/testing';
import { describe, expect, test } from 'vitest';
import { flowingTime } from '../support/fake-time.ts';

describe.each<{ name: string; provider: Provider }>([
  { name: 'bankingService', provider: bankingService() },
  { name: 'bankingService with another name', provider: bankingService({ name: 'second-bank' }) },
  { name: 'shopify', provider: shopify() },
  { name: 'slack', provider: slack() },
  { name: 'standardWebhooks', provider: standardWebhooks() },
  { name: 'standardWebhooks of Svix', provider: standardWebhooks({ name: 'clerk', headerPrefix: 'svix' }) },
  { name: 'github', provider: github() },
  { name: 'stripe', provider: stripe() },
  { name: 'stripe without retries', provider: stripe({ retries: 'none' }) },
])('$name', ({ provider }) => {
  test.each(providerConformance(provider))('$name', async ({ id, run }) => {
    if (id === 'slow-store') flowingTime();
    await run();
  });
});

describe('the list notices a provider', () => {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const header = 'acme-signature';
  const digest = (body: Uint8Array, key: string | Uint8Array) =>
    createHmac('sha256', key).update(body).digest('hex');

  /** A provider that passes, and what plays its sender. */
  const right: Provider = {
    name: 'acme',
    signature: hmacSignature({
      encoding: 'hex',
      read: (headers) => ({ signatures: [headers.get(header) ?? ''] }),
    }),
    readEvent: ({ rawBody }) => {
      const event = JSON.parse(decoder.decode(rawBody));
      return { id: event.event_id, type: event.kind, event };
    },
    answerWithinMs: 10_000,
    retries: [60_000, 3_600_000],
  };
  const samples: ProviderSamples = {
    type: 'order.paid',
    createEvent: ({ id, type }) => ({ event_id: id, kind: type }),
    sign: ({ rawBody, key }) => ({ [header]: digest(rawBody, key) }),
  };

  async function failed(
    changes: Partial<Provider>,
    sender: Partial<ProviderSamples> = {},
  ): Promise<string[]> {
    const cases = providerConformance({ ...right, ...changes }, { ...samples, ...sender });
    const quick = cases.filter(({ id }) => id !== 'slow-store');
    const results = await Promise.allSettled(quick.map(({ run }) => run()));
    return quick.flatMap(({ id }, index) => (results[index]?.status === 'rejected' ? [id] : []));
  }

  test('that is right, by no case', async () => {
    expect(await failed({})).toEqual([]);
  });

  test('that decodes leniently', async () => {
    const readEvent: Provider['readEvent'] = ({ rawBody }) => {
      const event = JSON.parse(Buffer.from(rawBody).toString());
      return { id: event.event_id, type: event.kind, event };
    };
    expect(await failed({ readEvent })).toEqual(['not-utf8']);
  });

  test('that makes up an id', async () => {
    let count = 0;
    const readEvent: Provider['readEvent'] = (request) => ({
      ...right.readEvent(request),
      id: `made-up-${count++}`,
    });
    expect(await failed({ readEvent })).toEqual(
      expect.arrayContaining(['handled', 'duplicate', 'stable-key']),
    );
  });

  test('that takes everything for an event', async () => {
    const readEvent: Provider['readEvent'] = ({ rawBody }) => {
      const id = Buffer.from(rawBody).toString();
      return { id: `evt_${id}`, type: 'order.paid', event: { type: 'order.paid' } };
    };
    expect(await failed({ readEvent })).toEqual(expect.arrayContaining(['not-utf8', 'not-an-event']));
  });

  test('that verifies nothing', async () => {
    expect(await failed({ signature: { verify: () => true } })).toEqual(
      expect.arrayContaining(['altered-body', 'other-key', 'missing-headers', 'repeated-headers']),
    );
  });

  test('that signs the time and lets it be any', async () => {
    const signed = ({ rawBody, key, signedAtMs }: Parameters<ProviderSamples['sign']>[0]) => ({
      'acme-time': String(Math.floor(signedAtMs / 1_000)),
      [header]: digest(Buffer.concat([Buffer.from(`${Math.floor(signedAtMs / 1_000)}`), rawBody]), key),
    });
    const signature = (isChecked: boolean) =>
      hmacSignature({
        encoding: 'hex',
        read: (headers) => {
          const time = headers.get('acme-time') ?? '';
          const signatures = [headers.get(header) ?? ''];
          return { signatures, ...(isChecked && { time }), content: (rawBody) => [time, rawBody] };
        },
      });
    expect(await failed({ signature: signature(true) }, { sign: signed })).toEqual([]);
    expect(await failed({ signature: signature(false) }, { sign: signed })).toEqual([
      'old-time',
      'future-time',
    ]);
  });

  test('without samples', () => {
    expect(() => providerConformance(defineProvider(right))).toThrow(ConfigurationError);
    expect(() => providerConformance(right)).toThrow('"acme" cannot be played');
  });
});
