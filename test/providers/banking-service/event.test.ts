import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { createMemoryStore, createReceiver, EventError } from 'posthorn';
import { describe, expect, test, vi } from 'vitest';
import { anyCharacter } from '../../support/any-character.ts';
import { deliveryOf } from '../../support/delivery-of.ts';
import { CREATED_AT, envelope, members, NOW, receiverAt, verify } from '../../support/envelopes.ts';
import { KEY } from '../../support/served.ts';

function withData(json: string): string {
  return `{"id":"evt_${json.length}","type":"transfer.created","created_at":"${CREATED_AT}","data":${json}}`;
}

// Written as text, because an object literal cannot hold a key `__proto__` of its own.
const { json } = fc.letrec<{ json: string; object: string }>((tie) => ({
  json: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom('null', 'true', 'false', '0', '-0', '1e400', '1E-400', '12345678901234567890', '0.1'),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
    fc.string({ unit: anyCharacter }).map((text) => JSON.stringify(text)),
    fc.constantFrom('"\\ud800"', '"\\u0000"', '"\u2028"', '"\u{1f3ba}"', '"\\/"'),
    fc.array(tie('json'), { maxLength: 4 }).map((items) => `[${items.join(', ')}]`),
    tie('object'),
  ),
  object: fc
    .array(
      fc.tuple(
        fc.oneof(fc.constantFrom('__proto__', 'constructor', 'toString', 'length', '', '0'), fc.string()),
        tie('json'),
      ),
      { maxLength: 4 },
    )
    .map((pairs) => `{${pairs.map(([key, value]) => `${JSON.stringify(key)}:${value}`).join(',')}}`),
}));

describe('data', () => {
  test('of any JSON reaches the handler as JSON.parse gives it', async () => {
    const seen: unknown[] = [];
    const receiver = createReceiver({ signingKey: KEY, now: () => NOW }).observe(() => {});
    receiver.on('transfer.created', (event) => seen.push(event.data));
    let count = 0;
    await fc.assert(
      fc.asyncProperty(json, async (json) => {
        count += 1;
        const data = `{"value":${json},"__proto__":${json}}`;
        const body = withData(data).replace('evt_', `evt_${count}_`);
        const { status } = await receiver.receive(deliveryOf(body));
        expect(status).toBe(200);
        const [got] = seen.splice(0);
        const expected: unknown = JSON.parse(data);
        expect(isDeepStrictEqual(got, expected)).toBe(true);
        expect(Object.keys(Object(got))).toEqual(['value', '__proto__']);
        expect(JSON.stringify(got)).toBe(JSON.stringify(expected));
      }),
      { numRuns: 300 },
    );
    expect(Object.keys(Object.prototype)).toEqual([]);
  });

  test('and the whole event are what JSON.parse returned, by reference', async () => {
    const body = withData('{"value":{"deep":[1]},"__proto__":{"polluted":true}}');
    const parse = vi.spyOn(JSON, 'parse');
    try {
      const event = await verify(body);
      const parsed = parse.mock.results.map(({ value }) => value);
      expect(parsed.some((value) => value === event)).toBe(true);
      expect(parsed.some((value) => value?.data === event.data)).toBe(true);
      expect(event.data.polluted).toBeUndefined();
    } finally {
      parse.mockRestore();
    }
  });

  test('nested as deep as a body allows crashes nothing', async () => {
    const deep = 100_000;
    const receiver = receiverAt(NOW, { store: createMemoryStore() }).on('*', () => {});
    const [open, close] = ['['.repeat(deep), ']'.repeat(deep)];
    const cases: readonly [string, number][] = [
      [withData(`{"value":${open}${close}}`), 200],
      [withData(`${'{"a":'.repeat(deep)}1${'}'.repeat(deep)}`), 200],
      [withData(open + close), 400],
      [open + close, 400],
      [open, 400],
      ['{"data":'.repeat(deep), 400],
    ];
    for (const [body, status] of cases) {
      expect(await receiver.receive(deliveryOf(body)), body.slice(0, 120)).toMatchObject({ status });
    }
  });
});

describe('bytes', () => {
  const whole = Buffer.from(envelope({ data: { note: 'é ✓ 🎺' } }));
  const changed = fc
    .array(fc.tuple(fc.nat({ max: whole.length - 1 }), fc.nat({ max: 255 })), { minLength: 1, maxLength: 4 })
    .map((changes) => {
      const bytes = Uint8Array.from(whole);
      for (const [at, byte] of changes) bytes[at] = byte;
      return bytes;
    });
  const cut = fc.nat({ max: whole.length }).map((end) => Uint8Array.from(whole.subarray(0, end)));
  const ascii = Buffer.from(envelope({ data: { note: 'plain' } }));
  const anything = fc
    .oneof(fc.uint8Array({ maxLength: 300 }), changed, cut, fc.constant(ascii), fc.json().map(Buffer.from))
    .chain((bytes) => fc.constantFrom(Uint8Array.from(bytes), Buffer.from(bytes)));

  test('give an event or an EventError, never anything else', async () => {
    await fc.assert(
      fc.asyncProperty(anything, async (bytes) => {
        const result = await verify(bytes).catch((error: unknown) => error);
        if (result instanceof Error) {
          expect(result).toBeInstanceOf(EventError);
          return;
        }
        const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
        expect(result).toEqual(JSON.parse(text));
      }),
      { numRuns: 500 },
    );
  });

  const around = (bytes: readonly number[]): Buffer => {
    const [head, tail] = envelope({ data: { note: '|' } }).split('|');
    return Buffer.concat([Buffer.from(head ?? ''), Buffer.from(bytes), Buffer.from(tail ?? '')]);
  };
  const malformed: readonly { name: string; body: Uint8Array }[] = [
    { name: 'an overlong slash', body: around([0xc0, 0xaf]) },
    { name: 'an overlong NUL', body: around([0xe0, 0x80, 0x80]) },
    { name: 'a lone surrogate', body: around([0xed, 0xa0, 0x80]) },
    { name: 'a pair of surrogates (CESU-8)', body: around([0xed, 0xa0, 0xbc, 0xed, 0xbe, 0xba]) },
    { name: 'beyond U+10FFFF', body: around([0xf4, 0x90, 0x80, 0x80]) },
    { name: 'a cut sequence', body: around([0xe2, 0x9c]) },
    { name: 'a lone continuation', body: around([0x80]) },
    { name: '0xff', body: around([0xff]) },
    { name: 'Latin-1', body: Buffer.from(envelope({ data: { note: 'é' } }), 'latin1') },
    { name: 'UTF-16', body: Buffer.from(envelope({}), 'utf16le') },
    { name: 'a byte order mark', body: Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), whole]) },
    { name: 'nothing', body: Buffer.alloc(0) },
    { name: 'a comment', body: Buffer.from(`/**/${envelope({})}`) },
    { name: 'NaN', body: Buffer.from(withData('{"value":NaN}')) },
    { name: 'a raw control character', body: around([0x0a]) },
    { name: 'two documents', body: Buffer.concat([whole, whole]) },
  ];
  test.each(malformed)('with $name are refused: no strict UTF-8 JSON', async ({ body }) => {
    await expect(verify(body)).rejects.toMatchObject({ name: 'EventError', code: 'body_not_json' });
    const reply = await receiverAt(NOW)
      .on('*', () => {})
      .receive(deliveryOf(body));
    expect(reply).toMatchObject({ status: 400 });
    expect(JSON.parse(reply.body)).toMatchObject({ status: 400, code: 'body_not_json' });
  });
});

describe('the envelope', () => {
  const refused: readonly { name: string; body: string }[] = [
    ...['null', '5', '"text"', '[]', 'true', '{}', `[${envelope({})}]`].map((body) => ({ name: body, body })),
    ...Object.entries({
      id: [undefined, null, '', 5, {}, ['evt_1']],
      type: [
        undefined,
        null,
        '',
        5,
        'transfer',
        '.created',
        'transfer.',
        'transfer..created',
        ['transfer.created'],
      ],
      created_at: [undefined, null, '', 5, NOW],
      data: [undefined, null, [], 'text', 5, true],
    }).flatMap(([name, values]) =>
      values.map((value) => ({
        name: `${name}: ${JSON.stringify(value) ?? 'missing'}`,
        body: envelope({ [name]: value }),
      })),
    ),
    { name: 'an escaped lone surrogate in the id', body: envelope({}).replace('evt_1', 'evt_\\ud800') },
    { name: 'members only in __proto__', body: `{"__proto__":${envelope({})}}` },
  ];
  test.each(refused)('is refused with $name', async ({ body }) => {
    await expect(verify(body)).rejects.toMatchObject({ name: 'EventError', code: 'envelope_invalid' });
  });

  test('takes types and members that are not known yet, and ids of any well-formed text', async () => {
    const longId = 'x'.repeat(1_000_000);
    for (const id of ['0', ' ', '🎺', '\u0000', '__proto__', longId]) {
      expect((await verify(envelope({ id }))).id).toBe(id);
    }
    const event = { ...members, type: 'payout.on_hold.released', version: 2, extra: { a: 1 } };
    expect(await verify(JSON.stringify(event))).toEqual(event);
  });
});
