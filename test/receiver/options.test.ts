import fc from 'fast-check';
import { ConfigurationError, createMemoryStore, createReceiver } from 'posthorn';
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { createMapDeadLetters } from '../support/map-dead-letters.ts';
import { createMapJournal } from '../support/map-journal.ts';
import { KEY } from '../support/served.ts';

const store = createMemoryStore();
const deadLetters = createMapDeadLetters();
const journal = createMapJournal();

/** Untyped, for what the compiler would not let pass. */
function create(options: unknown): unknown {
  return Reflect.apply(createReceiver, undefined, [options]);
}

function createWith(name: string, value: unknown): unknown {
  return create({ signingKey: KEY, store, [name]: value });
}

function without(object: object, method: string): object {
  return Object.fromEntries(Object.entries(object).filter(([name]) => name !== method));
}

const notDurations: readonly unknown[] = [null, 0, -1, 1.5, Number.NaN, Infinity, '1000', 10n, {}, [1_000]];
const OVER_A_TIMER = 2 ** 31;

/** A list whose first place is empty, as `delete list[0]` leaves it: most functions of lists pass over it. */
function withHole(value: unknown): unknown[] {
  const list: unknown[] = [];
  list[1] = value;
  return list;
}

const wrong: Readonly<Record<string, readonly unknown[]>> = {
  signingKey: [
    undefined,
    null,
    '',
    [],
    [''],
    [KEY, ''],
    withHole(KEY),
    new Uint8Array(),
    5,
    {},
    Symbol('key'),
  ],
  name: [null, '', 5, {}, 'n'.repeat(201)],
  signatureHeader: [null, '', 'two words', 'x:', 'é', 'x\n', 5, 5n, {}],
  authentication: [null, [], {}, { type: 'DIGEST' }, 'NONE', 5n, withHole({ type: 'NONE' })],
  store: [
    null,
    {},
    'memory',
    5,
    Object.assign(() => {}, store),
    ...['claim', 'renew', 'complete', 'release'].map((m) => without(store, m)),
  ],
  deadLetters: [null, {}, '/tmp', ...['put', 'get', 'remove', 'list'].map((m) => without(deadLetters, m))],
  journal: [null, {}, 'journal', ...['record', 'get', 'list', 'prune'].map((m) => without(journal, m))],
  schemas: [null, 5, 'zod', { transfr: z.object() }, { transfer: 5 }, { transfer: {} }, { transfer: null }],
  queue: [null, {}, 'redis', { add: () => {} }, { close: () => {} }],
  maxRunning: [null, 0, -1, 1.5, Number.NaN, Infinity, '10', 10n, {}],
  deadlineMs: [...notDurations, 30_000, 60_000],
  maxRunMs: [...notDurations, 300_000, OVER_A_TIMER],
  leaseMs: [...notDurations, OVER_A_TIMER],
  retentionMs: [...notDurations, 1_259_999],
  maxEventAgeMs: [Number.MAX_VALUE, null, 0, -1, Number.NaN, -Infinity, '1000', 10n, {}],
  maxBodyBytes: notDurations,
  maxBufferedBytes: notDurations,
  bodyTimeoutMs: [...notDurations, OVER_A_TIMER],
  retryScheduleMs: [
    null,
    60_000,
    '60000',
    [0],
    [-1],
    [60_000, Number.NaN],
    [Infinity],
    ['60000'],
    [null],
    withHole(60_000),
    {},
  ],
  onStoreFailure: [null, '', 'accept', 'Reject', true, 5n],
  now: [null, 0, Date.now(), new Date(), 'now'],
};

describe('a wrong option throws ConfigurationError that names it', () => {
  for (const [name, values] of Object.entries(wrong)) {
    test(name, () => {
      for (const value of values) {
        const attempt = (): unknown => createWith(name, value);
        expect(attempt, String(typeof value)).toThrow(ConfigurationError);
        expect(attempt).toThrow(name);
        expect(attempt).toThrow(expect.objectContaining({ code: 'configuration_invalid' }));
      }
    });
  }

  test('a store whose command time-out is no duration', () => {
    for (const commandTimeoutMs of [0, -1, 1.5, 'x', null]) {
      expect(() => createWith('store', { ...store, commandTimeoutMs })).toThrow('store.commandTimeoutMs');
    }
  });

  test('an unknown one too, with the list of those there are', () => {
    for (const name of ['signingkey', 'deadline', 'queues', 'constructor', '']) {
      const attempt = (): unknown => createWith(name, 1);
      expect(attempt).toThrow(ConfigurationError);
      expect(attempt).toThrow(`"${name}"`);
      for (const known of Object.keys(wrong)) expect(attempt).toThrow(known);
    }
  });

  test('a signing key of an environment variable that is not set, with the way out', () => {
    for (const options of [{}, { signingKey: undefined }]) {
      const attempt = (): unknown => create(options);
      expect(attempt).toThrow(ConfigurationError);
      expect(attempt).toThrow(/^signingKey is undefined: .* environment variable, set that/);
      expect(attempt).toThrow(/loaded at build time, pass a function: \(\) => process\.env\.SIGNING_KEY$/);
    }
    expect(() => create({ signingKey: () => undefined })).not.toThrow();
  });

  test('a directory as deadLetters, with the function that it belongs to', () => {
    expect(() => createWith('deadLetters', 'dead-letters')).toThrow(
      'deadLetters is the text "dead-letters": for a directory of dead letters set ' +
        'createFileDeadLetters("dead-letters") of posthorn/file',
    );
  });

  test('and options that are none', () => {
    for (const options of [undefined, null, 'key', 5, Symbol('options'), () => {}]) {
      expect(() => create(options)).toThrow(ConfigurationError);
    }
    expect(() => create({})).toThrow(/signingKey/);
    expect(() => create([])).toThrow(ConfigurationError);
  });
});

describe('the limits', () => {
  const accepted: readonly (readonly [string, unknown])[] = [
    ['deadlineMs', 29_999],
    ['deadlineMs', 1],
    ['maxRunMs', 299_999],
    ['leaseMs', OVER_A_TIMER - 1],
    ['retentionMs', 1_260_000],
    ['maxEventAgeMs', Infinity],
    ['maxEventAgeMs', 1],
    ['signatureHeader', "X-a!#$%&'*+.^_`|~9"],
    ['retryScheduleMs', [1]],
    ['onStoreFailure', 'process'],
    ['schemas', {}],
    ['schemas', { transfer: z.object({ id: z.string() }), payment_instrument: z.unknown() }],
    ['signingKey', [KEY, Buffer.from([0])]],
    ['deadLetters', undefined],
    ['now', () => 0],
  ];
  test.each(accepted)('%s %j is accepted', (name, value) => {
    expect(() => createWith(name, value)).not.toThrow();
  });

  test('undefined is the same as leaving an option out', () => {
    for (const name of Object.keys(wrong)) {
      if (name !== 'signingKey') expect(() => createWith(name, undefined), name).not.toThrow();
    }
  });

  test('maxBufferedBytes holds at least one body of maxBodyBytes', () => {
    const sized = (sizes: object): unknown => create({ signingKey: KEY, store, ...sizes });
    expect(() => sized({ maxBodyBytes: 1_000, maxBufferedBytes: 1_000 })).not.toThrow();
    expect(() => sized({ maxBodyBytes: 1_001, maxBufferedBytes: 1_000 })).toThrow(/maxBufferedBytes.*1001/);
    expect(() => sized({ maxBodyBytes: 67_108_864 })).not.toThrow();
    expect(() => sized({ maxBodyBytes: 67_108_865 })).toThrow(ConfigurationError);
    expect(() => sized({ maxBufferedBytes: 1_048_575 })).toThrow(ConfigurationError);
  });

  test('depend on the schedule', () => {
    const scheduled = (options: object): unknown =>
      create({ signingKey: KEY, store, retryScheduleMs: [100, 200, 300], ...options });
    expect(() => scheduled({})).not.toThrow();
    expect(() => scheduled({ retentionMs: 600 })).not.toThrow();
    expect(() => scheduled({ retentionMs: 599 })).toThrow(/retentionMs.*600/);
    expect(() => scheduled({ maxRunMs: 199 })).not.toThrow();
    expect(() => scheduled({ maxRunMs: 200 })).toThrow(/maxRunMs.*200/);
    const DAY = 86_400_000;
    // Only a value that the user has set can throw.
    expect(() => scheduled({ retryScheduleMs: [DAY, 1] }), 'the default retention').not.toThrow();
  });

  test('of a schema: it may be a function that bears the standard', () => {
    const standard = { version: 1, vendor: 'test', validate: (value: unknown) => ({ value }) };
    const schema = Object.assign(() => {}, { '~standard': standard });
    expect(() => createWith('schemas', { dispute: schema })).not.toThrow();
  });
});

describe('any value', () => {
  const hostile = fc.constantFrom<unknown>(
    Object.create(null),
    { toString: 1 },
    { [Symbol.toPrimitive]: () => ({}) },
    [Object.create(null)],
    new Array(3),
    Symbol('s'),
    1n,
    [1n],
    new Proxy({}, {}),
    () => 0n,
  );
  const garbage = fc.oneof(
    fc.anything({
      withBigInt: true,
      withDate: true,
      withMap: true,
      withNullPrototype: true,
      withObjectString: true,
      withSet: true,
      withSparseArray: true,
      withTypedArray: true,
    }),
    hostile,
  );
  const acceptedOrRefused = (attempt: () => unknown): void => {
    try {
      attempt();
    } catch (error) {
      expect(error).toBeInstanceOf(ConfigurationError);
    }
  };

  test.each(Object.keys(wrong))('of %s is accepted or throws ConfigurationError, nothing else', (name) => {
    fc.assert(fc.property(garbage, (value) => acceptedOrRefused(() => createWith(name, value))));
  });

  test('as the options, and as an entry of authentication and of schemas, too', () => {
    fc.assert(
      fc.property(garbage, (value) => {
        acceptedOrRefused(() => create(value));
        acceptedOrRefused(() => createWith('authentication', { type: 'BASIC', basic: value }));
        acceptedOrRefused(() => createWith('authentication', { type: 'BEARER', bearer: { token: value } }));
        acceptedOrRefused(() => createWith('schemas', { transfer: value }));
        acceptedOrRefused(() => createWith('retryScheduleMs', [value]));
        acceptedOrRefused(() => Reflect.apply(createMemoryStore, undefined, [{ maxEntries: value }]));
      }),
    );
  });

  test('as a pattern, a handler, a name or a grace, too', () => {
    fc.assert(
      fc.property(garbage, (value) => {
        const receiver = createReceiver({ signingKey: KEY, store });
        acceptedOrRefused(() => Reflect.apply(receiver.on, receiver, [value, () => {}]));
        acceptedOrRefused(() => Reflect.apply(receiver.on, receiver, ['*', value]));
        acceptedOrRefused(() => Reflect.apply(receiver.on, receiver, ['*', () => {}, { name: value }]));
        acceptedOrRefused(() => Reflect.apply(receiver.on, receiver, ['*', () => {}, value]));
        acceptedOrRefused(() => Reflect.apply(receiver.onUnhandled, receiver, [value]));
        acceptedOrRefused(() => Reflect.apply(receiver.observe, receiver, [value]));
      }),
    );
  });
});

describe('options of the other calls', () => {
  test('close refuses a wrong grace and an unknown option', async () => {
    const receiver = createReceiver({ signingKey: KEY, store });
    for (const options of [{ graceMs: -1 }, { graceMs: '5' }, { graceMs: null }, { grace: 5 }, null]) {
      // Thrown at once or rejected: either way it is not taken for an order to close.
      await expect(async () => Reflect.apply(receiver.close, receiver, [options])).rejects.toThrow(
        ConfigurationError,
      );
    }
    await expect(receiver.close({ graceMs: 0 })).resolves.toEqual({ abandoned: [] });
  });

  test('createMemoryStore refuses a wrong or unknown option', () => {
    const wrongOptions = [
      { maxEntries: 0 },
      { maxEntries: 1.5 },
      { maxEntries: '5' },
      { maxEntries: null },
      { maxEntries: Number.MAX_SAFE_INTEGER },
      { max: 5 },
      { now: 5 },
      null,
    ];
    for (const options of wrongOptions) {
      expect(() => Reflect.apply(createMemoryStore, undefined, [options])).toThrow(ConfigurationError);
    }
  });
});
