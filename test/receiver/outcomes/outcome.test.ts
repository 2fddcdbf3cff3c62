import { createMemoryStore, PermanentError, type Receiver, type Report } from 'posthorn';
import { createEvent, deliver, signedHeaders } from 'posthorn/testing';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { createMapDeadLetters } from '../../support/map-dead-letters.ts';
import { openDirectly } from '../../support/open-endpoint.ts';
import { KEY, post, serve } from '../../support/served.ts';
import { throwing } from '../../support/throwing.ts';

const store = createMemoryStore();
const SECRET = 'SECRET-of-the-handler';

/** What `deliver` takes: the answers of both must be the same. */
type Target = string | Receiver;

const forms = ['over HTTP', 'without a server'] as const;

async function open(how: (typeof forms)[number], ...given: Parameters<typeof openDirectly>) {
  const { receiver, reports } = openDirectly(...given);
  const to: Target = how === 'over HTTP' ? await serve(receiver) : receiver;
  return { to, reports: reports.all };
}

/** One receiver that can fail in every way that needs no waiting. */
function mount(how: (typeof forms)[number] = 'over HTTP') {
  const { authentication } = options;
  const schemas = { merchant: z.object({ id: z.string() }) };
  return open(how, { store, authentication, schemas, maxBodyBytes: 2_000 }, (receiver) =>
    receiver
      .on('transfer.created', () => {})
      .on('merchant.created', () => {})
      .on('transfer.failed', throwing(new Error(SECRET)))
      .on('dispute.lost', throwing(new PermanentError(SECRET))),
  );
}

const options = { key: KEY, authentication: { type: 'BEARER', bearer: { token: 'token' } } } as const;

function old(ageMs: number): object {
  return { ...createEvent('transfer.created'), created_at: new Date(Date.now() - ageMs).toISOString() };
}

interface Case {
  readonly code: string;
  readonly status: number;
  readonly outcome: Report['outcome'];
  readonly send: (to: Target) => Promise<Response>;
  /** What the answer says besides. */
  readonly header?: readonly [string, string];
}

const rejected = 'rejected';
const failed = 'failed';

const refusals: readonly Case[] = [
  {
    code: 'credentials_invalid',
    status: 401,
    outcome: rejected,
    send: (to) => deliver(to, createEvent('transfer.created'), { key: KEY }),
    header: ['www-authenticate', 'Bearer realm="webhooks"'],
  },
  {
    code: 'signature_missing',
    status: 403,
    outcome: rejected,
    send: (to) => deliver(to, '{}', { ...options, signatureHeader: 'x-other' }),
  },
  {
    code: 'signature_malformed',
    status: 403,
    outcome: rejected,
    send: (to) => deliver(to, '{}', { ...options, headers: { 'x-service-signature': SECRET } }),
  },
  {
    code: 'signature_mismatch',
    status: 403,
    outcome: rejected,
    send: (to) => deliver(to, '{}', { ...options, key: 'other' }),
  },
  {
    code: 'encoding_unsupported',
    status: 415,
    outcome: rejected,
    send: (to) => deliver(to, '{}', { ...options, headers: { 'content-encoding': 'gzip' } }),
    header: ['accept-encoding', 'identity'],
  },
  {
    code: 'body_too_large',
    status: 413,
    outcome: rejected,
    send: (to) => deliver(to, JSON.stringify('x'.repeat(2_000)), options),
  },
  {
    code: 'body_not_json',
    status: 400,
    outcome: rejected,
    send: (to) => deliver(to, `{${SECRET}`, options),
  },
  {
    code: 'envelope_invalid',
    status: 400,
    outcome: rejected,
    send: (to) => deliver(to, { id: SECRET }, options),
  },
  {
    code: 'event_too_old',
    status: 400,
    outcome: rejected,
    send: (to) => deliver(to, old(25 * 3_600_000), options),
  },
  {
    code: 'event_in_future',
    status: 400,
    outcome: rejected,
    send: (to) => deliver(to, old(-600_000), options),
  },
  {
    code: 'handler_failed',
    status: 500,
    outcome: failed,
    send: (to) => deliver(to, createEvent('transfer.failed'), options),
  },
  {
    code: 'handler_failed_permanently',
    status: 500,
    outcome: failed,
    send: (to) => deliver(to, createEvent('dispute.lost'), options),
  },
  {
    code: 'data_invalid',
    status: 500,
    outcome: failed,
    send: (to) => deliver(to, createEvent('merchant.created', { id: 5, note: SECRET }), options),
  },
];

/** The answer has title, status and code, and nothing else. */
async function expectRefusal(
  response: Response,
  reports: readonly Report[],
  { code, status, outcome, header }: Omit<Case, 'send'>,
): Promise<void> {
  const text = await response.text();
  expect(response.status).toBe(status);
  expect(response.headers.get('content-type')).toBe('application/problem+json');
  expect(JSON.parse(text)).toEqual({ title: expect.stringMatching(/./), status, code });
  for (const word of [SECRET, KEY, 'token', 'stack']) expect(text).not.toContain(word);
  if (header !== undefined) expect(response.headers.get(header[0])).toBe(header[1]);
  expect(reports).toMatchObject([{ outcome, status, code, late: false, answerSent: true }]);
  expect(reports[0]?.error).toMatchObject({ code });
}

describe.each(forms)('a refusal, %s, is a problem of RFC 9457', (how) => {
  test.each(refusals)('$status $code', async ({ send, ...expected }) => {
    const { to, reports } = await mount(how);
    await expectRefusal(await send(to), reports, expected);
  });
});

describe('a refusal of what deliver does not send', () => {
  test('405 method_not_allowed', async () => {
    const { to, reports } = await mount();
    await expectRefusal(await fetch(String(to)), reports, {
      code: 'method_not_allowed',
      status: 405,
      outcome: rejected,
      header: ['allow', 'POST'],
    });
  });

  test('403 signature_repeated', async () => {
    const { to } = await mount();
    const { 'x-service-signature': signature = '', ...headers } = signedHeaders('{}', options);
    const answer = await post(String(to), '{}', {
      ...headers,
      'x-service-signature': [signature, signature],
    });
    expect(answer.status).toBe(403);
    expect(JSON.parse(answer.body)).toEqual({
      title: expect.stringMatching(/./),
      status: 403,
      code: 'signature_repeated',
    });
  });
});

describe.each(forms)('a success, %s, is JSON', (how) => {
  test('processed, duplicate and ignored', async () => {
    const { to, reports } = await mount(how);
    const event = createEvent('transfer.created');
    const other = createEvent('dispute.won');
    const sent = [
      { event, outcome: 'processed' },
      { event, outcome: 'duplicate' },
      { event: other, outcome: 'ignored' },
    ];
    for (const { event, outcome } of sent) {
      const response = await deliver(to, event, options);
      expect(response.status).toBe(200);
      expect(response.headers.get('content-type')).toBe('application/json');
      expect(await response.text()).toBe(JSON.stringify({ outcome, id: event.id }));
    }
    expect(reports.map(({ outcome, status }) => [outcome, status])).toEqual(
      sent.map(({ outcome }) => [outcome, 200]),
    );
  });

  test('parked: at once after a PermanentError, with the reason in the letter and not in the answer', async () => {
    const letters = new Map();
    const deadLetters = createMapDeadLetters(letters);
    const { to, reports } = await open(how, { store, deadLetters }, (receiver) =>
      receiver.on('*', () => Promise.reject(new PermanentError(SECRET))),
    );
    const event = createEvent('transfer.created');
    const response = await deliver(to, event, { key: KEY });
    expect([response.status, await response.text()]).toEqual([
      200,
      JSON.stringify({ outcome: 'parked', id: event.id }),
    ]);
    expect(reports).toMatchObject([{ outcome: 'parked', status: 200, code: 'handler_failed_permanently' }]);
    expect(letters.get(event.id)).toMatchObject({
      reason: 'handler_failed_permanently',
      message: expect.stringContaining(SECRET),
      attempts: 1,
    });
  });
});

test('an id of any characters comes back as it was', async () => {
  const { to } = await mount();
  for (const id of ['"\\\n', '\u2028🎺', '__proto__', ' ']) {
    const response = await deliver(to, { ...createEvent('transfer.created'), id }, options);
    expect(await response.json()).toEqual({ outcome: 'processed', id });
  }
});

describe('whatever a handler throws is a failure', () => {
  const values: readonly { name: string; value: unknown }[] = [
    { name: 'undefined', value: undefined },
    { name: 'null', value: null },
    { name: 'text', value: SECRET },
    { name: 'a symbol', value: Symbol(SECRET) },
    { name: 'a function', value: () => SECRET },
    { name: 'an object without a prototype', value: Object.create(null) },
    {
      name: 'an error whose message is no text',
      value: Object.assign(new Error(), { message: Object.create(null) }),
    },
  ];
  test.each(values)('$name', async ({ value }) => {
    const { to, reports } = await open('over HTTP', { store }, (receiver) =>
      receiver.on('*', () => Promise.reject(value), { name: 'book' }),
    );
    const response = await deliver(to, createEvent('transfer.created'), { key: KEY });
    const text = await response.text();
    expect([response.status, JSON.parse(text).code]).toEqual([500, 'handler_failed']);
    expect(text).not.toContain(SECRET);
    expect(reports[0]?.error).toMatchObject({ name: 'HandlerError', errors: [value] });
    expect(reports[0]?.handlers).toMatchObject([{ name: 'book', ok: false }]);
  });
});
