import { createReceiver, defineProvider } from 'posthorn';
import { describe, expect, test } from 'vitest';
import { KEY } from '../../support/served.ts';
import { acme } from './senders.ts';

/** Untyped, for what the compiler would not let pass. */
function define(members: object): unknown {
  return Reflect.apply(defineProvider, undefined, [{ ...acme(), ...members }]);
}

function* generate(): Generator<undefined> {}

const hole: unknown[] = [];
hole[1] = 'a.b';

const wrong: readonly (readonly [string, readonly unknown[], RegExp])[] = [
  [
    'name',
    [undefined, null, '', 5, 'a b', 'é', 'a/b', 'a:b', 'a\n', 'n'.repeat(65), ['acme']],
    /^name of the provider must be 1 to 64 /,
  ],
  [
    'signature',
    [undefined, null, {}, { verify: 'x' }, 'hex', () => {}],
    /^signature of the provider: .* must be a function/,
  ],
  [
    'types',
    [null, [], 'a.b', ['a'], ['a.'], ['.a'], ['a..b'], ['a.*'], ['*'], ['a.b', 5], ['a b.c'], hole],
    /^types of the provider must be a list of texts such as "entity\.type"/,
  ],
  ['handshake', [null, 'text', {}, generate], /^handshake of the provider must /],
  ['readEvent', [undefined, null, {}, generate], /^readEvent of the provider must /],
  [
    'answerWithinMs',
    [undefined, null, 0, -1, 1.5, Number.NaN, Infinity, '10', 2 ** 31],
    /^answerWithinMs of the provider must be a whole number/,
  ],
  [
    'retries',
    [
      undefined,
      null,
      5,
      'no',
      [0],
      [-1],
      [Number.NaN],
      [Infinity],
      ['1'],
      hole,
      {},
      { forMs: 1 },
      { least: 1 },
      { forMs: 0, least: 1 },
      { forMs: Infinity, least: 1 },
      { forMs: 1, least: 0 },
      { forMs: 1, least: 1.5 },
      { forMs: '1', least: 1 },
    ],
    /^retries of the provider must be a list of delays in milliseconds, each above 0; or \{ forMs, least \}/,
  ],
  ['cutsOff', [null, 'yes', 1], /^cutsOff of the provider must be true or false/],
  [
    'maxBodyBytes',
    [null, 0, -1, 1.5, Number.NaN, Infinity, '10'],
    /^maxBodyBytes of the provider must be a whole number/,
  ],
  [
    'testing',
    [null, {}, { createEvent: () => {} }, { sign: () => {} }],
    /^testing\.(createEvent|sign) of the provider must be a function/,
  ],
];

describe('a wrong member throws where the provider is defined, and names itself:', () => {
  test.each(wrong)('%s', (member, values, message) => {
    for (const value of values) {
      const expected = expect.objectContaining({
        code: 'configuration_invalid',
        message: expect.stringMatching(message),
      });
      expect(() => define({ [member]: value }), `${String(value)}`).toThrow(expected);
    }
  });

  test.each(['answerWithinMS', 'catalog', 'signatureHeader'])('the unknown %s', (name) => {
    expect(() => define({ [name]: 1 })).toThrow(`"${name}" is not an option of defineProvider`);
  });

  test.each([undefined, null, 'acme', 5])('%s instead of a provider', (given) => {
    expect(() => Reflect.apply(defineProvider, undefined, [given])).toThrow(
      /^defineProvider takes an object/,
    );
  });
});

test('createReceiver refuses a provider that defineProvider has not seen', () => {
  const create = (provider: unknown) =>
    Reflect.apply(createReceiver, undefined, [{ provider, signingKey: KEY }]);
  for (const provider of [{ ...acme(), name: 'other' }, 'acme', 5])
    expect(() => create(provider)).toThrow(
      /^provider must come from posthorn\/providers or from defineProvider/,
    );
  expect(create(acme())).toHaveProperty('receive');
});

test('the methods of a class are no members', () => {
  class Sender {
    readonly name = 'acme';
    readonly signature = acme().signature;
    readonly answerWithinMs = 1;
    readonly retries = 'none';
    readEvent(): void {}
  }
  expect(() => Reflect.apply(defineProvider, undefined, [new Sender()])).toThrow(
    /^readEvent of the provider/,
  );
});

test('every right form is taken, and the result is a frozen copy', () => {
  const given = { ...acme(), types: ['a.b', 'a.b.c'], retries: [1], cutsOff: true, maxBodyBytes: 1 };
  const provider = defineProvider(given);
  expect(provider).toEqual(given);
  expect(provider).not.toBe(given);
  expect(Object.isFrozen(provider)).toBe(true);
  expect(defineProvider(provider)).toEqual(given);
  for (const retries of [[], [1, 2.5], 'none', { forMs: 1, least: 1 }] as const)
    expect(defineProvider({ ...acme(), retries }).retries).toEqual(retries);
  for (const name of ['a', 'A-b_c.9', 'n'.repeat(64)])
    expect(defineProvider({ ...acme(), name }).name).toBe(name);
});

test('a receiver with signatureHeader is refused beside a provider that names its header', () => {
  expect(() => createReceiver({ provider: acme(), signingKey: KEY, signatureHeader: 'x-signature' })).toThrow(
    /^signatureHeader cannot be set, because the provider "acme" names the header of its signature/,
  );
});

describe('without a list of types', () => {
  const create = () => createReceiver({ provider: acme(), signingKey: KEY });

  test.each(['push', 'invoice.paid', 'invoice.*', 'a.b.c.*', '*', 'x'.repeat(255), 'é', 'A:b', '.'])(
    '%j is a pattern',
    (pattern) => {
      expect(() => create().on(pattern, () => {})).not.toThrow();
    },
  );

  test.each([
    ['orders/create', ' Did you mean "orders.create"?'],
    ['orders create', ' Did you mean "orders.create"?'],
    [' push ', ' Did you mean "push"?'],
    ['', ''],
    ['a*', ''],
    ['*.*', ''],
    ['**', ''],
    ['x'.repeat(256), ''],
    ['a\tb', ' Did you mean "a.b"?'],
  ])('%j is not a pattern', (pattern, question) => {
    const refuse = () => create().on(pattern, () => {});
    expect(refuse).toThrow(expect.objectContaining({ code: 'configuration_invalid' }));
    expect(refuse).toThrow(`is not a pattern.${question} A pattern is "*", a type, or a prefix with ".*"`);
  });

  test('eventFilters() and schemas are refused by name', () => {
    const receiver = create().on('push', () => {});
    expect(() => receiver.eventFilters()).toThrow(
      'eventFilters() belongs to a provider with a list of types, and "acme" does not have one',
    );
    const schemas = {
      invoice: { '~standard': { version: 1, vendor: 'test', validate: () => ({ value: 1 }) } },
    };
    const options = { provider: acme(), signingKey: KEY, schemas };
    expect(() => Reflect.apply(createReceiver, undefined, [options])).toThrow(
      'schemas belongs to a provider with a list of types, and "acme" does not have one',
    );
  });

  test('eventFilters() without a handler says so first', () => {
    expect(() => create().eventFilters()).toThrow(/^eventFilters\(\) was called before any handler/);
  });
});

describe('with a list of types', () => {
  const types = ['invoice.paid', 'invoice.line.added', 'refund.made'];
  const create = () => createReceiver({ provider: acme({ types }), signingKey: KEY });

  test('a pattern that matches none is refused, and the nearest one named', () => {
    expect(() => create().on('invoice.payed', () => {})).toThrow(
      /^"invoice\.payed" matches no event type\. Did you mean "invoice\.paid"\?/,
    );
    expect(() => create().on('push', () => {})).toThrow('"push" matches no event type');
  });

  test('eventFilters() are of that list', () => {
    expect(
      create()
        .on('invoice.*', () => {})
        .eventFilters(),
    ).toEqual([{ entity: 'invoice', types: ['paid', 'line.added'] }]);
    expect(
      create()
        .on(['refund.made', 'invoice.line.*'], () => {})
        .eventFilters(),
    ).toEqual([
      { entity: 'invoice', types: ['line.added'] },
      { entity: 'refund', types: ['made'] },
    ]);
    expect(
      create()
        .on('*', () => {})
        .eventFilters(),
    ).toEqual([]);
  });
});
