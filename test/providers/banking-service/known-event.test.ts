import { type AnyEvent, catalog, createReceiver, isKnownEvent } from 'posthorn';
import { createEvent, deliver } from 'posthorn/testing';
import { describe, expect, expectTypeOf, test } from 'vitest';
import * as z from 'zod';
import { KEY, serve } from '../../support/served.ts';

describe('isKnownEvent', () => {
  const known = Object.entries(catalog).flatMap(([entity, types]) =>
    types.map((type) => `${entity}.${type}`),
  );

  test.each(known)('%s is known', (type) => {
    expect(isKnownEvent(createEvent(type, undefined, { any: true }))).toBe(true);
  });

  const unknown = [
    ...[
      'transfer.no_such_type',
      'invented.created',
      'transfer',
      'transfer.',
      '.created',
      'transfer.created.',
    ],
    ...['transfer.*', '*', '', 'Transfer.created', ' transfer.created', 'merchant.verification'],
    // What an object has by its prototype, and an array by its methods.
    ...['constructor', '__proto__', 'toString', 'hasOwnProperty', 'constructor.name', '__proto__.created'],
    ...['transfer.constructor', 'transfer.length', 'transfer.0', 'transfer.includes', 'toString.created'],
  ];
  test.each(unknown)('%j is not', (type) => {
    expect(isKnownEvent({ ...createEvent('transfer.created'), type })).toBe(false);
  });

  test('tells the events that a receiver hands over apart', async () => {
    const seen: [type: string, known: boolean][] = [];
    const see = (event: AnyEvent): unknown => seen.push([event.type, isKnownEvent(event)]);
    const url = await serve(
      createReceiver({ signingKey: KEY })
        .on('*', see)
        .observe(() => {}),
    );
    for (const type of [
      'dispute.won',
      'dispute.no_such_type',
      'constructor.created',
      'transfer.constructor',
    ]) {
      expect(await deliver(url, createEvent(type, undefined, { any: true }), { key: KEY })).toMatchObject({
        status: 200,
      });
    }
    expect(seen).toEqual([
      ['dispute.won', true],
      ['dispute.no_such_type', false],
      ['constructor.created', false],
      ['transfer.constructor', false],
    ]);
  });
});

describe('after isKnownEvent a switch on event.type is exhaustive', () => {
  const create = () =>
    createReceiver({ signingKey: KEY, schemas: { transfer: z.object({ amount: z.number() }) } });

  test('in a handler of a prefix', () => {
    create().on('transfer.*', (event) => {
      if (!isKnownEvent(event)) return;
      switch (event.type) {
        case 'transfer.created':
        case 'transfer.updated':
        case 'transfer.failed':
          return;
        case 'transfer.succeeded':
          return expectTypeOf(event.data).toEqualTypeOf<{ amount: number }>();
        default:
          return event satisfies never;
      }
    });
  });

  test('a missing case does not compile, of a prefix or of *', () => {
    create()
      .on('transfer.*', (event) => {
        if (!isKnownEvent(event)) return;
        switch (event.type) {
          case 'transfer.created':
          case 'transfer.updated':
          case 'transfer.failed':
            return;
          default:
            // @ts-expect-error transfer.succeeded is missing
            return event satisfies never;
        }
      })
      .on('*', (event) => {
        if (!isKnownEvent(event)) return;
        switch (event.type) {
          case 'transfer.created':
            return;
          default:
            // @ts-expect-error all others are missing
            return event satisfies never;
        }
      });
  });

  test('without it a type that the service may add is missing', () => {
    create().on('merchant.verification.*', (event) => {
      switch (event.type) {
        case 'merchant.verification.succeeded':
        case 'merchant.verification.failed':
          return;
        default:
          expectTypeOf(event.type).toEqualTypeOf<`merchant.verification.${string}`>();
          // @ts-expect-error merchant.verification.* may have further types
          return event satisfies never;
      }
    });
  });
});
