import { type AnyEvent, catalog, createReceiver, isKnownEvent } from 'posthorn';
import { createEvent, deliver } from 'posthorn/testing';
import { describe, expect, test } from 'vitest';
import { KEY, serve } from '../../support/served.ts';

describe('isKnownEvent', () => {
  const known = Object.entries(catalog).flatMap(([entity, types]) =>
    types.map((type) => `${entity}.${type}`),
  );

  test.each(known)('%s is known', (type) => {
    expect(isKnownEvent(createEvent(type, undefined, { any: true }))).toBe(true);
  });

  const unknown = [
    ...['transfer.no_such_type', 'payout.created', 'transfer', 'transfer.', '.created', 'transfer.created.'],
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
