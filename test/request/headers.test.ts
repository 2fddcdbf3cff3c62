import { createReceiver, type HeaderFields, type Receiver } from 'posthorn';
import { createEvent, signedHeaders } from 'posthorn/testing';
import { describe, expect, test } from 'vitest';
import { KEY } from '../support/served.ts';

const body = Buffer.from(JSON.stringify(createEvent('transfer.succeeded')));
const pairs = Object.entries(signedHeaders(body, { key: KEY }));
const [, signature = ''] = pairs.find(([name]) => name === 'x-service-signature') ?? [];

/** A receiver that can be delivered to once by each of several tests. */
function createSilent(): Receiver {
  return createReceiver({ signingKey: KEY })
    .on('*', () => {})
    .observe(() => {});
}

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

  test('a Map, or an object with one text by name, is processed', async () => {
    expect(await deliver(new Map(pairs))).toMatchObject({ status: 200 });
    expect(await deliver(Object.fromEntries(pairs))).toMatchObject({ status: 200 });
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
