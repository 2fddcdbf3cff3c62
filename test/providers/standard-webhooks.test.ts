import fc from 'fast-check';
import {
  ConfigurationError,
  createReceiver,
  type DeadLetter,
  defineProvider,
  EventError,
  type EventIdentity,
} from 'posthorn';
import { standardWebhooks } from 'posthorn/providers';
import { createEvent, signedHeaders } from 'posthorn/testing';
import { Webhook } from 'standardwebhooks';
import { Webhook as SvixWebhook } from 'svix';
import { describe, expect, test } from 'vitest';
import { createMapDeadLetters } from '../support/map-dead-letters.ts';

const key = `whsec_${Buffer.from('a key of thirty-two bytes, all in').toString('base64')}`;

/** Delivers a body that the vendor's package has signed. */
async function received(
  body: string | object,
  { id = 'msg_1', ...options }: { id?: string } & Parameters<typeof standardWebhooks>[0] = {},
) {
  const identities: EventIdentity[] = [];
  const events: object[] = [];
  const letters = new Map<string, DeadLetter>();
  const provider = standardWebhooks(options);
  const receiver = createReceiver({ provider, signingKey: key, deadLetters: createMapDeadLetters(letters) });
  receiver
    .observe(() => {})
    .on('*', (event, context) => {
      events.push(event);
      identities.push(context.event);
    });
  const payload = typeof body === 'string' ? body : JSON.stringify(body);
  const now = new Date();
  const prefix = options.headerPrefix ?? 'webhook';
  const answer = await receiver.receive({
    method: 'POST',
    headers: {
      [`${prefix}-id`]: id,
      [`${prefix}-timestamp`]: String(Math.floor(now.getTime() / 1_000)),
      [`${prefix}-signature`]: new (prefix === 'svix' ? SvixWebhook : Webhook)(key).sign(id, now, payload),
    },
    readBody: () => payload,
  });
  return {
    answer: JSON.parse(String(answer.body)),
    events,
    identity: identities[0],
    letters: [...letters.values()],
  };
}

describe('standardWebhooks()', () => {
  const timestamp = new Date(Date.now() - 3_600_000).toISOString();
  const payload = { type: 'user.created', timestamp, data: { id: 'user_1' } };

  test('hands the payload over with the id of the header', async () => {
    const { events, identity } = await received({ ...payload, id: 'of the payload' });
    expect(events).toEqual([{ ...payload, id: 'msg_1' }]);
    expect(identity).toMatchObject({
      id: 'msg_1',
      type: 'user.created',
      createdAtMs: Date.parse(timestamp),
      provider: 'standard-webhooks',
    });
  });

  test.each([undefined, 1_654_012_591_514, 'soon', null])(
    'takes the timestamp %j of a payload for none',
    async (value) => {
      const { answer, identity } = await received({ ...payload, timestamp: value });
      expect(answer.outcome).toBe('processed');
      expect(identity).not.toHaveProperty('createdAtMs', expect.anything());
    },
  );

  test.each([
    { name: 'without a type', body: { user: {}, email: {} }, code: 'envelope_invalid' },
    { name: 'that is not an object', body: '"text"', code: 'envelope_invalid' },
    { name: 'that is not JSON', body: 'a=1', code: 'body_not_json' },
  ])('parks a payload $name under the id of its header', async ({ body, code }) => {
    const { answer, events, letters } = await received(body);
    expect(answer).toMatchObject({ outcome: 'parked', id: 'msg_1' });
    expect(events).toEqual([]);
    expect(letters).toMatchObject([{ eventId: 'msg_1', provider: 'standard-webhooks', reason: code }]);
  });

  test('takes a type that is elsewhere from a readEvent in place of its own', async () => {
    const provider = defineProvider({
      ...standardWebhooks({ name: 'anthropic' }),
      readEvent: ({ rawBody, headers }) => {
        const { data } = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(rawBody));
        const id = headers.get('webhook-id') ?? '';
        if (typeof data?.type !== 'string')
          throw new EventError('envelope_invalid', 'data.type is missing', { id });
        return { id, type: data.type, event: { id, type: data.type, data } };
      },
    });
    const events: object[] = [];
    const receiver = createReceiver({ provider, signingKey: key });
    receiver.on('agent.created', (event) => events.push(event)).observe(() => {});
    const send = async (data: object): Promise<unknown> => {
      const body = JSON.stringify({ data });
      const headers = signedHeaders(body, { provider, key });
      return (await receiver.receive({ method: 'POST', headers, readBody: () => body })).status;
    };
    expect(await send({ type: 'agent.created' })).toBe(200);
    expect(events).toEqual([
      { id: expect.any(String), type: 'agent.created', data: { type: 'agent.created' } },
    ]);
    expect(await send({})).toBe(400);
  });

  test("reads Svix' headers, as its package signs them, and no others", async () => {
    const { events } = await received(payload, { headerPrefix: 'svix', name: 'clerk' });
    expect(events).toEqual([{ ...payload, id: 'msg_1' }]);
    const provider = standardWebhooks({ headerPrefix: 'svix' });
    const body = JSON.stringify(createEvent('user.created', {}, { provider }));
    const headers = signedHeaders(body, { provider, key });
    expect(new SvixWebhook(key).verify(body, headers)).toEqual(JSON.parse(body));
    const receiver = createReceiver({ provider: standardWebhooks(), signingKey: key }).observe(() => {});
    await expect(receiver.verify(body, headers)).rejects.toMatchObject({ code: 'signature_missing' });
  });

  test('signs in tests as the package does', () => {
    const provider = standardWebhooks();
    const body = JSON.stringify(createEvent('user.created', { id: 'user_1' }, { provider }));
    const headers = signedHeaders(body, { provider, key });
    expect(new Webhook(key).verify(body, headers)).toEqual(JSON.parse(body));
    expect(headers['webhook-id']).toBe(JSON.parse(body).id);
  });

  test('each of its three headers must be there', async () => {
    const provider = standardWebhooks();
    const receiver = createReceiver({ provider, signingKey: key }).observe(() => {});
    const body = JSON.stringify({ ...payload, id: 'msg_1' });
    const headers = signedHeaders(body, { provider, key });
    for (const name of ['webhook-id', 'webhook-timestamp', 'webhook-signature']) {
      const { [name]: _, ...others } = headers;
      await expect(receiver.verify(body, others), name).rejects.toMatchObject({
        code: 'signature_missing',
        message: expect.stringContaining(name),
      });
      await expect(receiver.verify(body, { ...headers, [name]: '' }), name).rejects.toMatchObject({
        code: 'signature_malformed',
      });
      await expect(
        receiver.verify(body, { ...headers, [name]: [headers[name] ?? '', 'x'] }),
      ).rejects.toMatchObject({
        code: 'signature_repeated',
      });
    }
  });

  test.each([
    { options: { headerPrefix: '' }, says: 'headerPrefix' },
    { options: { headerPrefix: 'svix:' }, says: 'headerPrefix' },
    { options: { name: 'a b' }, says: 'name of the provider' },
    { options: { toleranceMs: 1 }, says: '"toleranceMs" is not an option of standardWebhooks' },
  ])('refuses $options', ({ options, says }) => {
    expect(() => standardWebhooks(options)).toThrow(says);
  });
});

describe('a secret', () => {
  const body = '{"type":"a.b"}';
  // One time for signature and header: a second may begin between two readings of the clock.
  const signedAt = new Date();

  /** What the vendor's package makes of a secret: a signature, or nothing if it refuses it. */
  function theirs(secret: string): string | undefined {
    try {
      return new Webhook(secret).sign('msg_1', signedAt, body);
    } catch {
      return undefined;
    }
  }

  async function isRight(secret: string, signature: string): Promise<boolean> {
    const receiver = createReceiver({ provider: standardWebhooks(), signingKey: secret }).observe(() => {});
    const headers = {
      'webhook-id': 'msg_1',
      'webhook-timestamp': String(Math.floor(signedAt.getTime() / 1_000)),
      'webhook-signature': signature,
    };
    return receiver.verify(body, headers).then(
      () => true,
      () => false,
    );
  }

  const forms = [
    'AQ==',
    'AQID',
    'AQIDBA',
    'AQIDB',
    'AQID\n',
    'AQID$',
    'AR==',
    'AQID=',
    'AQIDBA=',
    'AQID==',
    'whsec_AQID',
  ];
  const wrong = [
    'A',
    'AQ',
    'AQI',
    'AQ=',
    'AQID===',
    'AQI-',
    'AQ ID',
    ' AQID',
    'A===',
    '====',
    'whsec_',
    'WHSEC_AQID',
    'whsec_whsec_AQID',
    'v1,whsec_AQID',
    'ключ',
  ];

  test.each(forms)('%j is decoded as the package decodes it', async (secret) => {
    expect(await isRight(secret, theirs(secret) ?? '')).toBe(true);
  });

  test.each(wrong)('%j is refused, as the package refuses it', (secret) => {
    expect(theirs(secret)).toBeUndefined();
    const create = () => createReceiver({ provider: standardWebhooks(), signingKey: secret });
    expect(create).toThrow(ConfigurationError);
    expect(create).not.toThrow(`${secret} `);
  });

  test('of any form gets the same verdict', async () => {
    const text = fc.array(fc.constantFrom('A', 'Q', 'z', '9', '+', '/', '=', '-', '\n', 'whsec_'), {
      minLength: 1,
      maxLength: 12,
    });
    await fc.assert(
      fc.asyncProperty(text, async (parts) => {
        const secret = parts.join('');
        const signature = theirs(secret);
        if (signature === undefined)
          expect(() => createReceiver({ provider: standardWebhooks(), signingKey: secret })).toThrow(
            ConfigurationError,
          );
        else expect(await isRight(secret, signature)).toBe(true);
      }),
      { numRuns: 300 },
    );
  });

  test('as bytes is the key as it stands', async () => {
    const raw = Buffer.from('not base64!');
    const signature = new Webhook(raw, { format: 'raw' }).sign('msg_1', signedAt, body);
    const receiver = createReceiver({ provider: standardWebhooks(), signingKey: raw }).observe(() => {});
    const headers = {
      'webhook-id': 'msg_1',
      'webhook-timestamp': String(Math.floor(signedAt.getTime() / 1_000)),
      'webhook-signature': signature,
    };
    await expect(receiver.verify(body, headers)).resolves.toMatchObject({ id: 'msg_1', type: 'a.b' });
  });
});
