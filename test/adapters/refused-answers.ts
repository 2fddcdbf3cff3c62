import type { ReceiverOptions, ReportCode } from 'posthorn';
import { sign } from 'posthorn';
import { describe, expect, test } from 'vitest';
import {
  BASIC,
  BEARER,
  Endpoint,
  expectProblem,
  expectReport,
  KEY,
  type Mount,
  PASSWORD,
  type Seen,
  signed,
  TOKEN,
  transfer,
  USERNAME,
} from './endpoint.ts';
import { headOf, RawConnection } from './raw-connection.ts';

export function refusedAnswers(mount: Mount): void {
  describe('405', () => refusedMethods(mount));
  describe('401', () => refusedCredentials(mount));
  describe('403', () => refusedSignatures(mount));
  describe('415 and 413', () => refusedBodies(mount));
  describe('400', () => refusedEvents(mount));
}

/** Opens an endpoint, sends one delivery, and sees it rejected; no handler saw it. */
async function expectRejected(
  mount: Mount,
  options: Partial<ReceiverOptions>,
  status: number,
  code: ReportCode,
  send: (endpoint: Endpoint) => Promise<Seen>,
): Promise<{ answer: Seen; endpoint: Endpoint }> {
  const handled: string[] = [];
  const endpoint = await Endpoint.open(mount, {
    options,
    register: (receiver) => receiver.on('*', (event) => handled.push(event.id)),
  });
  const answer = await send(endpoint);
  expectProblem(answer, status, code);
  const report = await expectReport(endpoint, { outcome: 'rejected', status, code, attempt: undefined });
  expect(report.error?.code).toBe(code);
  expect(handled).toEqual([]);
  return { answer, endpoint };
}

function refusedMethods(mount: Mount): void {
  for (const method of ['GET', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
    test(`${method} is told to POST, before it is asked for credentials`, async () => {
      const { endpoint } = await expectRejected(
        mount,
        { authentication: BASIC },
        405,
        'method_not_allowed',
        (to) => to.request({ method, ...(method !== 'GET' && { body: '{}' }) }),
      );
      expect(endpoint.reports[0]?.event).toBeUndefined();
    });
  }

  test('HEAD gets the same answer without its body', async () => {
    const endpoint = await Endpoint.open(mount);
    const answer = await endpoint.request({ method: 'HEAD' });
    expect([answer.status, answer.body, answer.headers.get('allow')]).toEqual([405, '', 'POST']);
  });
}

function refusedCredentials(mount: Mount): void {
  const basic = (text: string): string => `Basic ${Buffer.from(text).toString('base64')}`;
  const right = { basic: basic(`${USERNAME}:${PASSWORD}`), bearer: `Bearer ${TOKEN}` };
  const wrong: Record<string, string | undefined> = {
    'no credentials': undefined,
    'an empty header': '',
    'a wrong password': basic(`${USERNAME}:${PASSWORD}x`),
    'a wrong user': basic(`${USERNAME}x:${PASSWORD}`),
    'a user alone': basic(USERNAME),
    'Basic credentials that are no base64': 'Basic %%%',
    'a scheme alone': 'Basic',
    'a wrong token': `Bearer ${TOKEN}x`,
    'a token under another scheme': `Token ${TOKEN}`,
    'the right token as Basic': `Basic ${TOKEN}`,
    'the right pair as Bearer': `Bearer ${USERNAME}:${PASSWORD}`,
    'both, in one header': `${right.basic}, ${right.bearer}`,
  };
  for (const [name, authorization] of Object.entries(wrong)) {
    test(`${name}`, async () => {
      const authentication = [BASIC, BEARER];
      const { answer } = await expectRejected(mount, { authentication }, 401, 'credentials_invalid', (to) =>
        to.send(transfer(), authorization === undefined ? {} : { authorization }),
      );
      expect(answer.headers.get('www-authenticate')).toBe(
        'Basic realm="webhooks", charset="UTF-8", Bearer realm="webhooks"',
      );
    });
  }

  test('every wrong part is answered in the same words', async () => {
    const endpoint = await Endpoint.open(mount, { options: { authentication: BASIC } });
    const bodies = new Set<string>();
    for (const authorization of Object.values(wrong)) {
      const headers = authorization === undefined ? undefined : { authorization };
      bodies.add((await endpoint.send(transfer(), headers)).body);
    }
    expect(bodies.size).toBe(1);
  });

  test.each([
    ['the same twice', [right.basic, right.basic]],
    ['a right one before a wrong one', [right.basic, 'Basic eA==']],
    ['a wrong one before a right one', ['Basic eA==', right.basic]],
  ])('authorization sent twice: %s', async (_, [first = '', second = '']) => {
    await expectRejected(mount, { authentication: BASIC }, 401, 'credentials_invalid', (to) =>
      sendFields(to, ({ headers }) => [
        ...Object.entries(headers),
        ['authorization', first],
        ['Authorization', second],
      ]),
    );
  });
}

/** Sends an event over a connection of its own, with a list of header fields that `fetch` could not send. */
async function sendFields(
  endpoint: Endpoint,
  fields: (delivery: ReturnType<typeof signed>) => readonly (readonly [string, string])[],
): Promise<Seen> {
  const delivery = signed();
  const length = ['content-length', String(Buffer.byteLength(delivery.body))] as const;
  const connection = await RawConnection.open(endpoint.url);
  connection.write(headOf(endpoint.url, [...fields(delivery), length])).write(delivery.body);
  return connection.answer();
}

function refusedSignatures(mount: Mount): void {
  const malformed = {
    'too short': 'ab'.repeat(31),
    'too long': 'ab'.repeat(33),
    'not hex': 'xy'.repeat(32),
    'with a prefix': `sha256=${'ab'.repeat(32)}`,
    empty: '',
  };
  for (const [name, signature] of Object.entries(malformed)) {
    test(`a signature that is ${name}`, async () => {
      await expectRejected(mount, {}, 403, 'signature_malformed', (to) =>
        to.send(transfer(), { 'x-service-signature': signature }),
      );
    });
  }

  test('no signature', async () => {
    const body = JSON.stringify(transfer());
    await expectRejected(mount, {}, 403, 'signature_missing', (to) => to.request({ method: 'POST', body }));
  });

  test('no signature under the header that was configured: the report names the one that was sent', async () => {
    const options = { signatureHeader: 'acme-signature' };
    const { answer, endpoint } = await expectRejected(mount, options, 403, 'signature_missing', (to) =>
      to.send(transfer()),
    );
    expect(endpoint.reports[0]?.error?.message).toContain('"x-service-signature"');
    expect(answer.body).not.toContain('x-service-signature');
  });

  test('a signature of another key', async () => {
    const body = JSON.stringify(transfer());
    await expectRejected(mount, {}, 403, 'signature_mismatch', (to) =>
      to.send(body, { 'x-service-signature': sign(body, `${KEY}x`) }),
    );
  });

  test('a signature of another body', async () => {
    const { headers } = signed();
    const { endpoint } = await expectRejected(mount, {}, 403, 'signature_mismatch', (to) =>
      to.send(transfer(), headers),
    );
    expect(endpoint.reports[0]?.event).toBeUndefined();
  });

  test('the right signature sent twice', async () => {
    await expectRejected(mount, {}, 403, 'signature_repeated', (to) =>
      sendFields(to, ({ headers }) => [
        ...Object.entries(headers),
        ['X-Service-Signature', headers['x-service-signature'] ?? ''],
      ]),
    );
  });
}

function refusedBodies(mount: Mount): void {
  test.each(['gzip', 'br', 'deflate, identity', 'x-unknown'])('content-encoding: %s', async (encoding) => {
    await expectRejected(mount, {}, 415, 'encoding_unsupported', (to) =>
      to.send(transfer(), { 'content-encoding': encoding }),
    );
  });

  test('a body over the limit', async () => {
    await expectRejected(mount, { maxBodyBytes: 50 }, 413, 'body_too_large', (to) => to.send(transfer()));
  });
}

function refusedEvents(mount: Mount): void {
  const { id, type, created_at, data } = transfer();
  const whole = { id, type, created_at, data };
  const text = JSON.stringify(whole);
  const noJson: Record<string, string | Uint8Array<ArrayBuffer>> = {
    'an empty body': '',
    'text that is no JSON': 'type=transfer.succeeded',
    'JSON that is cut': text.slice(0, -1),
    'two JSON texts': text + text,
    'a byte order mark': `\uFEFF${text}`,
    'bytes that are no UTF-8': Uint8Array.from(Buffer.from(text.replace('SUCCEEDED', '\u00ff'), 'latin1')),
    'UTF-16': Uint8Array.from(Buffer.from(text, 'utf16le')),
  };
  for (const [name, body] of Object.entries(noJson)) {
    test(`${name}`, async () => {
      await expectRejected(mount, {}, 400, 'body_not_json', (to) => to.send(body));
    });
  }

  const noEvent: Record<string, unknown> = {
    null: null,
    'a number': 1,
    'a list': [whole],
    'no id': { type, created_at, data },
    'an empty id': { ...whole, id: '' },
    'a number as id': { ...whole, id: 7 },
    'no type': { id, created_at, data },
    'a type without an entity': { ...whole, type: 'transfer' },
    'no created_at': { id, type, data },
    'a created_at that is no time': { ...whole, created_at: 'yesterday' },
    'no data': { id, type, created_at },
    'data that is no object': { ...whole, data: [] },
  };
  for (const [name, value] of Object.entries(noEvent)) {
    test(`an envelope with ${name}`, async () => {
      await expectRejected(mount, {}, 400, 'envelope_invalid', (to) => to.send(JSON.stringify(value)));
    });
  }

  const now = Date.parse('2026-03-01T12:00:00Z');
  const clock = { now: () => now, maxEventAgeMs: 3_600_000 };
  test('an event older than maxEventAgeMs', async () => {
    const event = { ...whole, created_at: '2026-03-01T10:59:59.999Z' };
    const { endpoint } = await expectRejected(mount, clock, 400, 'event_too_old', (to) => to.send(event));
    expect(endpoint.reports[0]?.event).toEqual({ id, type });
  });

  test('an event over 5 minutes in the future', async () => {
    const event = { ...whole, created_at: '2026-03-01T12:05:00.001Z' };
    const { endpoint } = await expectRejected(mount, clock, 400, 'event_in_future', (to) => to.send(event));
    expect(endpoint.reports[0]?.event).toEqual({ id, type });
  });

  test('ages at the limits are accepted', async () => {
    const endpoint = await Endpoint.open(mount, { options: clock });
    for (const created of ['2026-03-01T11:00:00Z', '2026-03-01T12:05:00Z']) {
      expect((await endpoint.send({ ...transfer(), created_at: created })).status).toBe(200);
    }
  });
}
