import { createReceiver, defineProvider, hmacSignature, type Provider } from 'posthorn';
import { bankingService, standardWebhooks } from 'posthorn/providers';
import { createEvent, deliver } from 'posthorn/testing';
import { describe, expect, test } from 'vitest';
import { createMapDeadLetters } from '../../support/map-dead-letters.ts';
import { KEY } from '../../support/served.ts';
import { throwing } from '../../support/throwing.ts';
import { acme, acmeEvent, acmeHeaders, toDelivery } from './senders.ts';

const BODY = JSON.stringify(acmeEvent());

/** A sender with members that the types of a provider forbid. */
const defined = (members: object): Provider => Reflect.apply(acme, undefined, [members]);

async function answerOf(provider: Provider, letters = new Map()): Promise<{ status: number; body: unknown }> {
  const deadLetters = createMapDeadLetters(letters);
  const receiver = createReceiver({ provider, signingKey: KEY, deadLetters }).on('*', () => {});
  receiver.observe(() => {});
  const { status, body } = await receiver.receive(toDelivery(BODY, acmeHeaders(BODY)));
  return { status, body: JSON.parse(String(body)) };
}

describe('a function of a provider that is async by mistake', () => {
  const rejects = async (): Promise<never> => Promise.reject(new Error('late'));

  test('readEvent: the body is parked, and the process goes on', async () => {
    const letters = new Map();
    expect(await answerOf(defined({ readEvent: rejects }), letters)).toMatchObject({
      status: 200,
      body: { outcome: 'parked' },
    });
    expect([...letters.values()]).toMatchObject([{ reason: 'envelope_invalid', provider: 'acme' }]);
  });

  test('read of hmacSignature: the delivery is refused, and the process goes on', async () => {
    const signature = Reflect.apply(hmacSignature, undefined, [{ encoding: 'hex', read: rejects }]);
    expect(await answerOf(defined({ signature }))).toMatchObject({
      status: 500,
      body: { code: 'configuration_invalid' },
    });
  });

  test.each([
    { content: rejects, answer: { status: 500, body: { code: 'configuration_invalid' } } },
    { content: throwing('not JSON'), answer: { status: 403, body: { code: 'signature_malformed' } } },
  ])('content of hmacSignature: $answer', async ({ content, answer }) => {
    const read = () => ({ signatures: ['0'.repeat(64)], content });
    const signature = Reflect.apply(hmacSignature, undefined, [{ encoding: 'hex', read }]);
    expect(await answerOf(defined({ signature }))).toMatchObject(answer);
  });
});

test.each([new Uint8Array(), undefined, null, 'text', [1]])(
  'a key of hmacSignature that gives %j in place of bytes is refused at construction',
  (given) => {
    const options = { encoding: 'hex', read: () => ({ signatures: [] }), key: () => given };
    const signature = Reflect.apply(hmacSignature, undefined, [options]);
    expect(() => createReceiver({ provider: defined({ signature }), signingKey: KEY })).toThrow(
      /^key of hmacSignature must return bytes, at least one/,
    );
  },
);

test('a copy of the default provider needs a name of its own: its events have keys of another form', () => {
  const copy = { ...bankingService(), answerWithinMs: 5_000 };
  expect(() => defineProvider(copy)).toThrow(/^name of the provider must not be "banking-service"/);
  expect(defineProvider({ ...copy, name: 'bank-2' }).name).toBe('bank-2');
  const provider = bankingService();
  expect(defineProvider(provider)).toBe(provider);
});

test('a sender that signs the time may date its events as it likes: an id is not kept for years', async () => {
  const provider = standardWebhooks();
  const key = Buffer.from('a secret of many bytes').toString('base64');
  const kept: number[] = [];
  const receiver = createReceiver({
    provider,
    signingKey: key,
    store: {
      claim: ({ retentionMs }) => {
        kept.push(retentionMs);
        return { state: 'claimed', attempt: 1, abandoned: 0, firstClaimedMsAgo: 0, handled: [] };
      },
      renew: () => ({ state: 'held' }),
      complete: () => ({ state: 'completed' }),
      release: () => ({ state: 'released' }),
    },
  }).on('*', () => {});
  const event = {
    ...createEvent('order.paid', undefined, { provider }),
    timestamp: '9999-01-01T00:00:00.1234Z',
  };
  expect((await deliver(receiver, event, { provider, key })).status).toBe(200);
  expect(kept).toEqual([expect.any(Number)]);
  expect(Math.max(...kept)).toBeLessThan(8 * 86_400_000);
  expect(kept.every(Number.isInteger)).toBe(true);
});

test("the retries of Svix are those of Svix' page, and not the example of the specification", () => {
  const hours = ({ retries }: Provider): number =>
    [retries]
      .flat()
      .map(Number)
      .reduce((sum, delayMs) => sum + delayMs, 0) / 3_600_000;
  expect(hours(standardWebhooks())).toBeCloseTo(75.585, 3);
  expect(hours(standardWebhooks({ headerPrefix: 'Svix' }))).toBeCloseTo(27.585, 3);
});
