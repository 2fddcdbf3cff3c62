import { Readable } from 'node:stream';
import { ConfigurationError, createReceiver, type Delivery, sign, verifySignature } from 'posthorn';
import { createEvent, signedHeaders } from 'posthorn/testing';
import { describe, expect, test } from 'vitest';
import { receiverWithReports } from '../../support/receiver-with-reports.ts';
import { KEY } from '../../support/served.ts';

const event = { ...createEvent('transfer.succeeded'), data: { note: 'Grüße 🎺' } };
const text = JSON.stringify(event);
const bytes = Buffer.from(text);
const headers = signedHeaders(text, { key: KEY });

const rights: readonly { name: string; body: Awaited<ReturnType<Delivery['readBody']>> }[] = [
  { name: 'a string', body: text },
  { name: 'a Buffer', body: bytes },
  { name: 'a Uint8Array', body: new TextEncoder().encode(text) },
  { name: 'a Uint8Array of a part of its memory', body: new Uint8Array([0, ...bytes, 0]).subarray(1, -1) },
  { name: 'an ArrayBuffer', body: new Uint8Array(bytes).buffer },
];

describe.each(rights)('a body as $name', ({ body }) => {
  test('is received, at once and as a promise', async () => {
    for (const readBody of [() => body, async () => body]) {
      const reply = await receiverWithReports().receiver.receive({ method: 'POST', headers, readBody });
      expect(reply).toMatchObject({
        status: 200,
        body: JSON.stringify({ outcome: 'processed', id: event.id }),
      });
    }
  });

  test('is verified, signed, and refused if another was signed', async () => {
    const { receiver } = receiverWithReports();
    expect(await receiver.verify(body, headers)).toEqual(event);
    expect(sign(body, KEY)).toBe(headers['x-service-signature']);
    expect(verifySignature(body, sign(text, KEY), KEY)).toBe(true);
    await expect(receiver.verify(body, signedHeaders(`${text} `, { key: KEY }))).rejects.toMatchObject({
      code: 'signature_mismatch',
    });
  });

  test('counts by its bytes', async () => {
    const length = bytes.byteLength;
    for (const [maxBodyBytes, status] of [
      [length, 200],
      [length - 1, 413],
    ]) {
      const receiver = createReceiver({ signingKey: KEY, ...(maxBodyBytes && { maxBodyBytes }) });
      receiver.on('*', () => {}).observe(() => {});
      const reply = await receiver.receive({ method: 'POST', headers, readBody: () => body });
      expect(reply.status).toBe(status);
    }
  });
});

const wrongs: readonly { name: string; body: unknown; got: string }[] = [
  { name: 'a parsed object', body: { ...event, secret: 'payload' }, got: 'Object' },
  { name: 'a parsed list', body: ['payload'], got: 'Array' },
  { name: 'undefined', body: undefined, got: 'undefined' },
  { name: 'null', body: null, got: 'null' },
  { name: 'a number', body: 5, got: 'number' },
  { name: 'a stream', body: Readable.from(['payload']), got: 'Object' },
  { name: 'text in 16-bit units', body: new Uint16Array(4), got: 'Uint16Array' },
  { name: 'a Map', body: new Map([['payload', 1]]), got: 'Map' },
];

describe.each(wrongs)('$name in the place of a body', ({ body, got }) => {
  const expected = `must be the body as it was sent, a string, Uint8Array or ArrayBuffer; got ${got}.`;

  test('is answered 500 by receive, and reported with what was expected and what came', async () => {
    for (const readBody of [() => body, async () => Promise.resolve(body)]) {
      const { receiver, reports } = receiverWithReports();
      const reply = await Reflect.apply(receiver.receive, receiver, [{ method: 'POST', headers, readBody }]);
      expect(reply.status).toBe(500);
      expect(JSON.parse(reply.body)).toMatchObject({ status: 500, code: 'configuration_invalid' });
      expect(reports).toMatchObject([{ outcome: 'failed', code: 'configuration_invalid', answerSent: true }]);
      expect(reports[0]?.error).toBeInstanceOf(ConfigurationError);
      expect(reports[0]?.error?.message).toContain(`the result of readBody ${expected}`);
      expect(reports[0]?.error?.message).not.toContain('payload');
    }
  });

  test('makes verify, sign and verifySignature throw', async () => {
    const { receiver } = receiverWithReports();
    const verified: Promise<unknown> = Reflect.apply(receiver.verify, receiver, [body, headers]);
    await expect(verified).rejects.toBeInstanceOf(ConfigurationError);
    await expect(verified).rejects.toThrow(`rawBody ${expected}`);
    expect(() => Reflect.apply(sign, undefined, [body, KEY])).toThrow(ConfigurationError);
    for (const signature of [sign(text, KEY), 'malformed']) {
      const call = (): unknown => Reflect.apply(verifySignature, undefined, [body, signature, KEY]);
      expect(call).toThrow(`body ${expected}`);
    }
  });
});

test('a value that cannot even be looked at is named, too', async () => {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  const { receiver } = receiverWithReports();
  const verified: Promise<unknown> = Reflect.apply(receiver.verify, receiver, [proxy, headers]);
  await expect(verified).rejects.toThrow(/^rawBody must be .*; got object\./);
});
