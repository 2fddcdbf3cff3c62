import { type AnyEvent, ConfigurationError, catalog, createMemoryStore, createReceiver } from 'posthorn';
import { createEvent, deliver } from 'posthorn/testing';
import { describe, expect, test } from 'vitest';
import { deliveryOf } from '../../../support/delivery-of.ts';
import { KEY, serve } from '../../../support/served.ts';

const store = createMemoryStore();

function create() {
  return createReceiver({ signingKey: KEY, store }).observe(() => {});
}

const types = Object.entries(catalog).flatMap(([entity, names]) => names.map((name) => `${entity}.${name}`));

/** Sends an event of each type; resolves with what the handlers saw, in order. */
async function typesSeenBy(patterns: readonly string[], sent: readonly string[]): Promise<string[]> {
  const seen: string[] = [];
  const receiver = create();
  Reflect.apply(receiver.on, receiver, [patterns, (event: AnyEvent) => seen.push(event.type)]);
  for (const type of sent) {
    const delivery = deliveryOf(createEvent(type, undefined, { any: true }));
    expect(await receiver.receive(delivery)).toHaveProperty('status', 200);
  }
  return seen;
}

describe('a pattern gets', () => {
  const late = [
    'transfer.no_such_type',
    'transfer.a.b',
    'merchant.verification.pending.late',
    'invented.created',
  ];
  const cases: readonly { patterns: readonly string[]; expected: (type: string) => boolean }[] = [
    { patterns: ['*'], expected: () => true },
    { patterns: ['transfer.succeeded'], expected: (type) => type === 'transfer.succeeded' },
    { patterns: ['transfer.*'], expected: (type) => type.startsWith('transfer.') },
    { patterns: ['merchant.*'], expected: (type) => type.startsWith('merchant.') },
    {
      patterns: ['merchant.verification.*'],
      expected: (type) => type.startsWith('merchant.verification.'),
    },
    {
      patterns: ['settlement.funding_transfer.*', 'dispute.won', 'dispute.*'],
      expected: (type) => type.startsWith('settlement.funding_transfer.') || type.startsWith('dispute.'),
    },
  ];
  test.each(cases)('$patterns', async ({ patterns, expected }) => {
    const sent = [...types, ...late];
    expect(await typesSeenBy(patterns, sent)).toEqual(sent.filter(expected));
  });

  test('nothing of an entity whose name only begins like its own', async () => {
    expect(await typesSeenBy(['transfer.*'], ['transfer_batch.created', 'transfers.created'])).toEqual([]);
  });
});

function thrownBy(attempt: () => unknown): Error {
  try {
    attempt();
  } catch (error) {
    if (error instanceof Error) return error;
  }
  throw new Error('nothing was thrown');
}

describe('on() throws ConfigurationError for', () => {
  const misspelt = [
    'transfer.suceeded',
    'transfer',
    'transfer.',
    'Transfer.created',
    'transfers.*',
    '**',
  ].concat([
    '*.created',
    'transfer.*.x',
    'transfer*',
    '.*',
    '',
    ' *',
    'merchant.verif.*',
    'transfer.created.*',
  ]);
  test.each(misspelt)('the pattern %j, with the list of those there are', (pattern) => {
    const receiver = create();
    const attempt = (): unknown => Reflect.apply(receiver.on, receiver, [pattern, () => {}]);
    expect(attempt).toThrow(ConfigurationError);
    expect(attempt).toThrow(JSON.stringify(pattern));
    const { message } = thrownBy(attempt);
    for (const type of types) expect(message).toContain(type);
    expect(() => Reflect.apply(receiver.on, receiver, [['*', pattern], () => {}])).toThrow(
      ConfigurationError,
    );
  });

  const near: readonly [pattern: string, meant: string][] = [
    ['transfer.suceeded', 'transfer.succeeded'],
    ['Transfer.Created', 'transfer.created'],
    ['dispute:won', 'dispute.won'],
    ['transfers.*', 'transfer.*'],
    ['transfer', 'transfer.*'],
    ['merchant.verifcation.*', 'merchant.verification.*'],
    ['settlement.funding_transfer.fail', 'settlement.funding_transfer.failed'],
  ];
  test.each(near)('the pattern %j, and asks whether %j was meant', (pattern, meant) => {
    const receiver = create();
    const attempt = (): unknown => Reflect.apply(receiver.on, receiver, [['*', pattern], () => {}]);
    expect(attempt).toThrow(`${JSON.stringify(pattern)} matches no event type. Did you mean "${meant}"?`);
  });

  const far = ['invented.created', '**', '', ' ', '*.created', 't'.repeat(1_000_000), 5, null, ['transfer']];
  test.each(far.map((pattern) => [String(pattern).slice(0, 20), pattern]))(
    'the pattern %j, which is near to none, and asks nothing',
    (_name, pattern) => {
      const receiver = create();
      const attempt = (): unknown => Reflect.apply(receiver.on, receiver, [[pattern], () => {}]);
      expect(attempt).toThrow(/matches no event type\. A pattern is /);
    },
  );

  const wrong: readonly { name: string; args: readonly unknown[] }[] = [
    { name: 'no pattern', args: [[], () => {}] },
    { name: 'undefined', args: [undefined, () => {}] },
    { name: 'a number', args: [5, () => {}] },
    { name: 'no handler', args: ['*'] },
    { name: 'a handler that is none', args: ['*', {}] },
    { name: 'an empty name', args: ['*', () => {}, { name: '' }] },
    { name: 'a name that is none', args: ['*', () => {}, { name: 5 }] },
    { name: 'an unknown option', args: ['*', () => {}, { nmae: 'book' }] },
    { name: 'options that are none', args: ['*', () => {}, 'book'] },
  ];
  test.each(wrong)('$name', ({ args }) => {
    const receiver = create();
    expect(() => Reflect.apply(receiver.on, receiver, args)).toThrow(ConfigurationError);
  });

  test('a repeated name, even on another pattern', () => {
    const receiver = create().on('transfer.created', () => {}, { name: 'book' });
    expect(() => receiver.on('dispute.won', () => {}, { name: 'book' })).toThrow(ConfigurationError);
    expect(() => receiver.on('dispute.won', () => {}, { name: 'book' })).toThrow(/"book"/);
    expect(() => receiver.on('dispute.won', () => {}, { name: 'mail' })).not.toThrow();
    expect(() => receiver.on('dispute.won', () => {}).on('dispute.won', () => {}), 'unnamed').not.toThrow();
  });

  test('a handler after the first delivery, even a refused one', async () => {
    const receiver = create().on('transfer.created', () => {});
    await receiver.verify('{}', {}).catch(() => {});
    expect(() => receiver.on('dispute.won', () => {}), 'verify() delivers nothing').not.toThrow();
    await fetch(await serve(receiver));
    expect(() => receiver.on('dispute.won', () => {})).toThrow(ConfigurationError);
    expect(() => receiver.onUnhandled(() => {})).toThrow(ConfigurationError);
  });
});

test('a refused on() registers nothing', async () => {
  const seen: string[] = [];
  const receiver = create().on('*', () => {}, { name: 'book' });
  expect(() => receiver.on('*', () => seen.push('repeated'), { name: 'book' })).toThrow();
  expect(() => Reflect.apply(receiver.on, receiver, [['*', 'nope'], () => seen.push('wrong')])).toThrow();
  await deliver(await serve(receiver), createEvent('transfer.created'), { key: KEY });
  expect(seen).toEqual([]);
});

test('on() is chainable, each handler that matches runs once, whatever number of its patterns match', async () => {
  const seen: string[] = [];
  const receiver = create()
    .on(['*', 'transfer.*', 'transfer.created'], () => seen.push('many'))
    .on('transfer.created', () => seen.push('one'))
    .on('dispute.*', () => seen.push('other'))
    .onUnhandled(() => seen.push('unhandled'));
  const response = await deliver(await serve(receiver), createEvent('transfer.created'), { key: KEY });
  expect(await response.json()).toMatchObject({ outcome: 'processed' });
  expect(seen.sort()).toEqual(['many', 'one']);
});

describe('what no handler matches', () => {
  test('is answered 200 ignored without onUnhandled, and its id is not recorded', async () => {
    const url = await serve(create().on('dispute.won', () => {}));
    for (const type of ['transfer.created', 'invented.created']) {
      const event = createEvent(type, undefined, { any: true });
      for (const attempt of [1, 2]) {
        const response = await deliver(url, event, { key: KEY });
        expect([response.status, await response.json()], `attempt ${attempt}`).toEqual([
          200,
          { outcome: 'ignored', id: event.id },
        ]);
      }
    }
  });

  test('goes to onUnhandled, which is told whether the catalog knows the type', async () => {
    const seen: unknown[] = [];
    const receiver = create()
      .on('dispute.won', () => {})
      .onUnhandled((event, details) => seen.push([event.type, details]));
    const url = await serve(receiver);
    for (const type of ['transfer.created', 'invented.created', 'dispute.won', 'dispute.appealed']) {
      const event = createEvent(type, undefined, { any: true });
      const response = await deliver(url, event, { key: KEY });
      expect([response.status, await response.json()]).toEqual([200, { outcome: 'processed', id: event.id }]);
      const again = await deliver(url, event, { key: KEY });
      expect(await again.json()).toMatchObject({ outcome: 'duplicate' });
    }
    expect(seen).toEqual([
      ['transfer.created', { known: true }],
      ['invented.created', { known: false }],
      ['dispute.appealed', { known: false }],
    ]);
  });

  test('fails where onUnhandled fails', async () => {
    const receiver = create().onUnhandled(() => Promise.reject(new Error('no')));
    const response = await deliver(await serve(receiver), createEvent('transfer.created'), { key: KEY });
    expect([response.status, await response.json()]).toMatchObject([500, { code: 'handler_failed' }]);
  });

  test('has one onUnhandled', () => {
    expect(() =>
      create()
        .onUnhandled(() => {})
        .onUnhandled(() => {}),
    ).toThrow(ConfigurationError);
  });
});

describe('a receiver without handlers', () => {
  test('answers 503 rather than lose early events', async () => {
    const response = await deliver(await serve(create()), createEvent('transfer.created'), { key: KEY });
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '60']);
    expect(await response.json()).toMatchObject({ status: 503, code: 'no_handlers' });
  });

  test('is content with onUnhandled alone', async () => {
    const receiver = create().onUnhandled(() => {});
    const response = await deliver(await serve(receiver), createEvent('transfer.created'), { key: KEY });
    expect(await response.json()).toMatchObject({ outcome: 'processed' });
  });
});
