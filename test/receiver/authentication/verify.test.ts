import {
  type Authentication,
  CredentialsError,
  createMemoryStore,
  createReceiver,
  EventError,
  PosthornError,
  SignatureError,
  UnavailableError,
} from 'posthorn';
import { createEvent, deliver, signedHeaders } from 'posthorn/testing';
import { describe, expect, test } from 'vitest';
import { eventAt } from '../../support/open-endpoint.ts';
import { KEY, serve } from '../../support/served.ts';

const store = createMemoryStore();
const authentication: Authentication = {
  type: 'BASIC',
  basic: { username: 'Aladdin', password: 'open sesame' },
};
const event = createEvent('transfer.succeeded');
const body = JSON.stringify(event);
const headers = signedHeaders(body, { key: KEY, authentication });
const { authorization = '', 'x-service-signature': signature = '' } = headers;

function create() {
  return createReceiver({ signingKey: KEY, authentication, store });
}

describe('verify() returns the event', () => {
  test('for a body as text, Buffer or bytes', async () => {
    for (const raw of [body, Buffer.from(body), new TextEncoder().encode(body)]) {
      expect(await create().verify(raw, headers)).toEqual(event);
    }
  });

  const forms = [
    { name: 'a Headers object', headers: new Headers(headers) },
    { name: 'a plain object', headers },
    { name: 'a Map', headers: new Map(Object.entries(headers)) },
    { name: 'pairs', headers: Object.entries(headers) },
    { name: 'alternating names and values, as rawHeaders has them', headers: Object.entries(headers).flat() },
    {
      name: 'lists of values, as headersDistinct has them',
      headers: { authorization: [authorization], 'x-service-signature': [signature], cookie: undefined },
    },
    {
      name: 'names in any case',
      headers: { AUTHORIZATION: authorization, 'X-Service-SIGNATURE': signature },
    },
    { name: 'an object without a prototype', headers: Object.assign(Object.create(null), headers) },
  ];
  test.each(forms)('for headers as $name', async ({ headers }) => {
    expect(await create().verify(body, headers)).toEqual(event);
  });

  test('claims nothing and runs no handler: the delivery itself is still processed', async () => {
    const seen: string[] = [];
    const receiver = create().on('*', ({ id }) => seen.push(id));
    receiver.observe(() => {});
    await receiver.verify(body, headers);
    await receiver.verify(body, headers);
    expect(seen).toEqual([]);
    const response = await deliver(await serve(receiver), event, { key: KEY, authentication });
    expect(await response.json()).toEqual({ outcome: 'processed', id: event.id });
    expect(seen).toEqual([event.id]);
  });

  test('without handlers, too', async () => {
    await expect(create().verify(body, headers)).resolves.toEqual(event);
  });
});

describe('verify() throws', () => {
  const signed = (text: string) => ({ text, fields: signedHeaders(text, { key: KEY, authentication }) });
  // Another event: as a duplicate of one that was handled, its delivery would be accepted.
  const aged = (ms: number) => signed(JSON.stringify(eventAt(Date.now() - ms)));
  const cases: readonly {
    type: typeof CredentialsError | typeof SignatureError | typeof EventError;
    code: string;
    text?: string;
    fields: Parameters<ReturnType<typeof create>['verify']>[1];
  }[] = [
    { type: CredentialsError, code: 'credentials_invalid', fields: { 'x-service-signature': signature } },
    {
      type: CredentialsError,
      code: 'credentials_invalid',
      fields: { ...headers, authorization: [authorization, authorization] },
    },
    {
      type: CredentialsError,
      code: 'credentials_invalid',
      fields: { ...headers, Authorization: authorization },
    },
    { type: SignatureError, code: 'signature_missing', fields: { authorization } },
    { type: SignatureError, code: 'signature_missing', fields: { authorization, 'x-service-signature': [] } },
    {
      type: SignatureError,
      code: 'signature_repeated',
      fields: { authorization, 'x-service-signature': [signature, signature] },
    },
    {
      type: SignatureError,
      code: 'signature_repeated',
      fields: { ...headers, 'X-Service-Signature': signature },
    },
    {
      type: SignatureError,
      code: 'signature_malformed',
      fields: { authorization, 'x-service-signature': `${signature}, ${signature}` },
    },
    { type: SignatureError, code: 'signature_mismatch', text: `${body} `, fields: headers },
    { type: EventError, code: 'body_not_json', ...signed('{') },
    { type: EventError, code: 'envelope_invalid', ...signed('{"id":"evt_1"}') },
    { type: EventError, code: 'event_too_old', ...aged(25 * 3_600_000) },
    { type: EventError, code: 'event_in_future', ...aged(-600_000) },
  ];
  test.each(cases)('$type.name $code', async ({ type, code, text = body, fields }) => {
    const error: unknown = await create()
      .verify(text, fields)
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(PosthornError);
    expect(error).toBeInstanceOf(type);
    expect(error).toMatchObject({ name: type.name, code });
  });

  test.each(cases)('$type.name $code with the status that a delivery gets', async (given) => {
    const { text = body, fields } = given;
    const receiver = create()
      .on('*', () => {})
      .observe(() => {});
    const { status } = await receiver.receive({ method: 'POST', headers: fields, readBody: () => text });
    await expect(receiver.verify(text, fields)).rejects.toMatchObject({ status });
  });

  test('ConfigurationError with the status of a body that was parsed before', async () => {
    const parsed: object = JSON.parse(body);
    // @ts-expect-error a parsed body
    await expect(create().verify(parsed, headers)).rejects.toMatchObject({ status: 500 });
  });

  test('UnavailableError when the key source fails', async () => {
    const receiver = createReceiver({ signingKey: () => Promise.reject(new Error('sealed')), store });
    const verified = receiver.verify(body, headers);
    await expect(verified).rejects.toBeInstanceOf(UnavailableError);
    await expect(verified).rejects.toMatchObject({
      code: 'keys_unavailable',
      status: 503,
      cause: { message: 'sealed' },
    });
  });

  test('an EventError that tells as much of the event as could be read', async () => {
    const cases = [
      { text: JSON.stringify({ ...event, data: 5 }), readable: { id: event.id, type: event.type } },
      { text: JSON.stringify({ ...event, type: 5 }), readable: { id: event.id } },
      { text: '{', readable: {} },
    ];
    for (const { text, readable } of cases) {
      const verified = create().verify(text, signedHeaders(text, { key: KEY, authentication }));
      await expect(verified).rejects.toSatisfy(
        (error) => error instanceof EventError && JSON.stringify(error.event) === JSON.stringify(readable),
      );
    }
  });

  test('nothing of a body that is not authentic: it is not even parsed', async () => {
    const verified = create().verify('{', headers);
    await expect(verified).rejects.toMatchObject({ code: 'signature_mismatch' });
  });
});
