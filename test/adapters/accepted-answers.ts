import { createEvent } from 'posthorn/testing';
import { expect, test } from 'vitest';
import {
  BASIC,
  BEARER,
  Endpoint,
  expectAccepted,
  expectProblem,
  expectReport,
  Gate,
  KEY,
  type Mount,
  signed,
  transfer,
} from './endpoint.ts';
import { headOf, RawConnection } from './raw-connection.ts';

export function acceptedAnswers(mount: Mount): void {
  test('an event whose handlers completed is processed', async () => {
    const handled: { event: unknown; rawBody: Uint8Array }[] = [];
    const endpoint = await Endpoint.open(mount, {
      register: (receiver) =>
        receiver.on('transfer.succeeded', (event, { rawBody }) => handled.push({ event, rawBody })),
    });
    // Spaces, escapes and a text beyond ASCII: the signature is over these bytes and no others.
    const body = `{ "data" : {"id":"TR\\u0031","amount":1250, "note":"Grüße 🎺"},\n"type":"transfer.succeeded","id":"evt/1 é",
      "created_at":"${new Date().toISOString()}", "more": [1.50] }`;
    const answer = await endpoint.send(body);
    expectAccepted(answer, 'processed', 'evt/1 é');
    expect(handled.map(({ event }) => event)).toEqual([JSON.parse(body)]);
    expect(handled.map(({ rawBody }) => Buffer.from(rawBody).toString())).toEqual([body]);
    await expectReport(endpoint, {
      outcome: 'processed',
      status: 200,
      code: undefined,
      event: { id: 'evt/1 é', type: 'transfer.succeeded' },
      attempt: 1,
      final: false,
      keyIndex: 0,
      endpointAtRisk: false,
    });
  });

  test('an event that was completed before is a duplicate', async () => {
    const handled: string[] = [];
    const endpoint = await Endpoint.open(mount, {
      register: (receiver) => receiver.on('transfer.*', (event) => handled.push(event.id)),
    });
    const event = transfer();
    expectAccepted(await endpoint.send(event), 'processed', event.id);
    expectAccepted(await endpoint.send(event), 'duplicate', event.id);
    expect(handled).toEqual([event.id]);
    expect(endpoint.reports.map(({ outcome, event: of }) => [outcome, of?.id])).toEqual([
      ['processed', event.id],
      ['duplicate', event.id],
    ]);
  });

  test('a concurrent duplicate gets the outcome of the run that it joined', async () => {
    const gate = new Gate();
    let runs = 0;
    const endpoint = await Endpoint.open(mount, {
      register: (receiver) =>
        receiver.on('transfer.*', async () => {
          runs += 1;
          await gate.opened;
        }),
    });
    const event = transfer();
    const answers = [endpoint.send(event), endpoint.send(event)];
    await endpoint.arrived(2);
    gate.open();
    const bodies = (await Promise.all(answers)).map(({ status, body }) => [status, JSON.parse(body)]);
    expect(bodies.sort(([, a], [, b]) => (a.outcome < b.outcome ? -1 : 1))).toEqual([
      [200, { outcome: 'duplicate', id: event.id }],
      [200, { outcome: 'processed', id: event.id }],
    ]);
    expect(runs).toBe(1);
    expect(endpoint.reports).toHaveLength(2);
  });

  test('a type that no handler wants is ignored, and its id is not recorded', async () => {
    const endpoint = await Endpoint.open(mount);
    for (const event of [createEvent('dispute.won'), createEvent('invention.made.today')]) {
      expectAccepted(await endpoint.send(event), 'ignored', event.id);
      expectAccepted(await endpoint.send({ ...event, type: 'transfer.failed' }), 'processed', event.id);
    }
    expect(endpoint.reports.map(({ outcome }) => outcome)).toEqual([
      'ignored',
      'processed',
      'ignored',
      'processed',
    ]);
  });

  test('credentials of each kind are let in, also while they are being changed', async () => {
    const endpoint = await Endpoint.open(mount, { options: { authentication: [BASIC, BEARER] } });
    const basic = Buffer.from(`${BASIC.basic.username}:${BASIC.basic.password}`).toString('base64');
    const right = [`Basic ${basic}`, `bASIC  ${basic}`, `Bearer ${BEARER.bearer.token}`];
    for (const authorization of right) {
      const event = transfer();
      expectAccepted(await endpoint.send(event, { authorization }), 'processed', event.id);
    }
  });

  test('any of the signing keys, a signature in upper case, and a header name in any case are accepted', async () => {
    const endpoint = await Endpoint.open(mount, {
      options: { signingKey: ['another-key', KEY], signatureHeader: 'Acme-Signature' },
    });
    const event = transfer();
    const { body, headers } = signed(event);
    const signature = (headers['x-service-signature'] ?? '').toUpperCase();
    const connection = await RawConnection.open(endpoint.url);
    const fields = { 'ACME-signature': signature, 'CONTENT-LENGTH': String(Buffer.byteLength(body)) };
    connection.write(headOf(endpoint.url, fields)).write(body);
    expectAccepted(await connection.answer(), 'processed', event.id);
    await expectReport(endpoint, { outcome: 'processed', keyIndex: 1 });
  });

  test('a body is read whatever its content type says, and with content-encoding: identity', async () => {
    const endpoint = await Endpoint.open(mount);
    const types = ['application/json', 'text/plain', 'application/x-www-form-urlencoded', ''];
    for (const type of types) {
      const event = transfer();
      const answer = await endpoint.send(event, { 'content-type': type, 'content-encoding': 'identity' });
      expectAccepted(answer, 'processed', event.id);
    }
  });

  test('a body of exactly maxBodyBytes is accepted, one byte more is not', async () => {
    const event = transfer();
    const maxBodyBytes = JSON.stringify(event).length;
    const endpoint = await Endpoint.open(mount, { options: { maxBodyBytes } });
    expectAccepted(await endpoint.send(event), 'processed', event.id);
    expectProblem(await endpoint.send(`${JSON.stringify(event)} `), 413, 'body_too_large');
  });

  test('a body of several megabytes arrives byte for byte', async () => {
    const received: unknown[] = [];
    const endpoint = await Endpoint.open(mount, {
      options: { maxBodyBytes: 8_000_000 },
      register: (receiver) => receiver.on('transfer.*', (event) => received.push(event.data.tags)),
    });
    const tags = { text: 'ü🎺'.repeat(500_000) };
    const event = createEvent('transfer.created', { tags });
    expectAccepted(await endpoint.send(event), 'processed', event.id);
    expect(received).toEqual([tags]);
  });
}
