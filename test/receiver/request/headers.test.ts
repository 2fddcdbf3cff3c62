import type { IncomingHttpHeaders } from 'node:http';
import { createReceiver, type HeaderFields, PermanentError, type Receiver } from 'posthorn';
import { createEvent, signedHeaders } from 'posthorn/testing';
import { describe, expect, test } from 'vitest';
import { createMapDeadLetters } from '../../support/map-dead-letters.ts';
import { readAll } from '../../support/read-all.ts';
import { KEY } from '../../support/served.ts';

const body = Buffer.from(JSON.stringify(createEvent('transfer.succeeded')));
const pairs = Object.entries(signedHeaders(body, { key: KEY }));
const [, signature = ''] = pairs.find(([name]) => name === 'x-service-signature') ?? [];

/** A receiver that can be delivered to once by each of several tests. */
function createSilent(): Receiver {
  return createReceiver({ signingKey: KEY })
    .on('*', () => {})
    .observe(() => {});
}

/** Headers as Node.js has them in `headers`: a list of values for some names, and undefined for some. */
const incoming: IncomingHttpHeaders = {
  ...Object.fromEntries(pairs),
  'set-cookie': ['a', 'b'],
  cookie: undefined,
};

function deliver(headers: HeaderFields): ReturnType<Receiver['receive']> {
  return createSilent().receive({ method: 'POST', headers, readBody: () => body });
}

const forms: { name: string; fromPairs: (pairs: [name: string, value: string][]) => HeaderFields }[] = [
  { name: 'pairs', fromPairs: (pairs) => pairs },
  { name: 'a Headers object', fromPairs: (pairs) => new Headers(pairs) },
  { name: 'a list of alternating names and values', fromPairs: (pairs) => pairs.flat() },
  {
    name: 'lists of values by name',
    fromPairs: (pairs) => {
      const byName = new Map<string, string[]>();
      for (const [name, value] of pairs) byName.set(name, [...(byName.get(name) ?? []), value]);
      return Object.fromEntries(byName);
    },
  },
];

function withoutIterator(headers: Headers): HeaderFields {
  return { get: (name) => headers.get(name), forEach: headers.forEach.bind(headers) };
}

describe('a delivery with its headers as', () => {
  test.each(forms)('$name is processed', async ({ fromPairs }) => {
    expect(await deliver(fromPairs(pairs))).toMatchObject({ status: 200 });
  });

  test.each(forms)('$name is processed with names in upper case', async ({ fromPairs }) => {
    const upper = pairs.map(([name, value]): [string, string] => [name.toUpperCase(), value]);
    expect(await deliver(fromPairs(upper))).toMatchObject({ status: 200 });
  });

  test.each(forms)('$name is refused if the signature was sent twice', async ({ fromPairs }) => {
    const repeated = await deliver(fromPairs([...pairs, ['x-service-signature', signature]]));
    expect(repeated).toMatchObject({ status: 403 });
  });

  const lists = pairs.map(([name, value]): [string, string[]] => [name, [value]]);
  const others: readonly { name: string; create: () => HeaderFields }[] = [
    { name: 'a Map', create: () => new Map(pairs) },
    { name: 'a Map of lists of values', create: () => new Map(lists) },
    { name: 'an object', create: () => Object.fromEntries(pairs) },
    { name: 'an object of lists of values', create: () => Object.fromEntries(lists) },
    { name: 'an object without a prototype', create: () => Object.assign(Object.create(null), incoming) },
    { name: 'the headers of an IncomingMessage', create: () => incoming },
    { name: 'the entries of those', create: () => Object.entries(incoming) },
    { name: 'pairs with lists of values', create: () => lists },
    { name: 'an iterator of pairs', create: () => pairs.values() },
    { name: 'Headers, as the library dom knows it', create: () => withoutIterator(new Headers(pairs)) },
  ];
  test.each(others)('$name is processed, and verified', async ({ create }) => {
    expect(await deliver(create())).toMatchObject({ status: 200 });
    expect(await createSilent().verify(body, create())).toMatchObject({ type: 'transfer.succeeded' });
  });

  test.each([
    { name: 'a Map', headers: new Map([['x-service-signature', [signature, signature]]]) },
    { name: 'entries', headers: [['x-service-signature', [signature, signature]] as const] },
    { name: 'an object', headers: { 'x-service-signature': [signature, signature] } },
    {
      name: 'entries, one of them a list',
      headers: [...pairs, ['X-Service-Signature', [signature]] as const],
    },
  ])('$name with two values of the signature is refused', async ({ headers }) => {
    const { status, body } = await deliver(headers);
    expect([status, JSON.parse(body).code]).toEqual([403, 'signature_repeated']);
  });

  test.each(forms)(
    '$name is refused, not broken, by fields with the names of Object.prototype',
    async ({ fromPairs }) => {
      const odd: [string, string][] = [
        ['constructor', 'x'],
        ['__proto__', 'x'],
      ];
      const { status, body } = await deliver(fromPairs(odd));
      expect([status, JSON.parse(body).code]).toEqual([403, 'signature_missing']);
    },
  );
});

describe('a value of a header that is not read', () => {
  const odd = [null, undefined, 5, true, {}, [], [null], [{}, 'x'], Symbol('x'), () => 'x', new Date()];

  test.each(forms)('never fails a delivery with its headers as $name', async ({ name, fromPairs }) => {
    if (name === 'a Headers object') return;
    for (const value of odd) {
      const more = [...pairs, ['Cookie', value], ['x-odd', value], ['x-odd', 'text']];
      const headers: HeaderFields = Reflect.apply(fromPairs, undefined, [more]);
      expect(await deliver(headers), String(value)).toMatchObject({ status: 200 });
    }
  });

  test('is not stored, and a number is stored as its digits', async () => {
    const deadLetters = createMapDeadLetters();
    const receiver = createReceiver({ signingKey: KEY, deadLetters }).observe(() => {});
    receiver.on('*', () => {
      throw new PermanentError('parked');
    });
    const more = Object.fromEntries(odd.map((value, index) => [`x-${index}`, value]));
    const headers: HeaderFields = JSON.parse('{}');
    await receiver.receive({
      method: 'POST',
      headers: Object.assign(headers, incoming, more),
      readBody: () => body,
    });
    const [letter] = await readAll(deadLetters.list());
    const stored = Object.entries(letter?.headers ?? {}).filter(([name]) => name.startsWith('x-'));
    expect(Object.fromEntries(stored)).toEqual({ 'x-2': ['5'], 'x-service-signature': [signature] });
  });
});
