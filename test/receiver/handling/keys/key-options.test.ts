import { ConfigurationError, createReceiver } from 'posthorn';
import { createEvent } from 'posthorn/testing';
import { describe, expect, test } from 'vitest';
import { nameHandler } from '../../../../src/receiver/handling/handlers/named-handler.ts';
import { HeldHandler } from '../../../support/held-handler.ts';
import { openDirectly, refused } from '../../../support/open-endpoint.ts';
import { KEY } from '../../../support/served.ts';
import { throwing } from '../../../support/throwing.ts';
import { eventOf } from './keyed-events.ts';

const concurrencyKey = () => 'a';

describe('concurrencyKey of on()', () => {
  test.each([
    [
      'without a name',
      { concurrencyKey },
      'name of on() is needed with concurrencyKey: all processes know the keys of a handler by its name',
    ],
    [
      'as a text',
      { name: 'book', concurrencyKey: 'a' },
      'concurrencyKey of on() must be a function that returns the key of an event, got "a"',
    ],
    [
      'as null',
      { name: 'book', concurrencyKey: null },
      'concurrencyKey of on() must be a function that returns the key of an event, got null',
    ],
  ])('%s is refused', (_, options: object, message) => {
    const receiver = createReceiver({ signingKey: KEY });
    const register = (): unknown => receiver.on('*', () => {}, options);
    expect(register).toThrow(ConfigurationError);
    expect(register).toThrow(message);
  });

  test('as undefined is left out', async () => {
    const { reports, send } = openDirectly({}, (receiver) =>
      receiver.on('*', () => {}, Object({ name: 'book', concurrencyKey: undefined })),
    );
    expect(await send(eventOf('a'))).toHaveProperty('status', 200);
    expect(reports.all[0]?.handlers[0]).not.toHaveProperty('keyWaitMs');
  });

  test('needs no name beside a handler that brings its own, as those of an inbox do', async () => {
    const held = new HeldHandler();
    const parts = { takeName: () => false, hasHandled: async () => false };
    const book = nameHandler('book', held.handle, parts);
    const { reports, send } = openDirectly({}, (receiver) => receiver.on('*', book, { concurrencyKey }));
    const answers = [send(eventOf('a')), send(eventOf('b'))];
    (await held.calls.nth(1)).succeed();
    (await held.calls.nth(2)).succeed();
    for (const answer of answers) expect(await answer).toHaveProperty('status', 200);
    expect(reports.all.map(({ handlers }) => handlers)).toMatchObject([
      [{ name: 'book', keyWaitMs: expect.any(Number) }],
      [{ name: 'book', keyWaitMs: expect.any(Number) }],
    ]);
  });

  test('gets the event with the output of its schema', async () => {
    const validate = (value: unknown) => ({ value: { ...Object(value), resource: 'R1' } });
    const transfer = { '~standard': { version: 1, vendor: 'test', validate } } as const;
    const seen: unknown[] = [];
    const { send } = openDirectly({ schemas: { transfer } }, (receiver) =>
      receiver.on('transfer.*', () => {}, {
        name: 'book',
        concurrencyKey: ({ data }) => {
          seen.push(data);
          return 'a';
        },
      }),
    );
    await send(createEvent('transfer.created', { id: 'TR1' }));
    expect(seen).toEqual([{ id: 'TR1', resource: 'R1' }]);
  });

  test('is called once for each attempt of its handler, and may return 1,000 characters', async () => {
    let calls = 0;
    const { send } = openDirectly({}, (receiver) =>
      receiver.on('*', () => {}, {
        name: 'book',
        concurrencyKey: () => {
          calls += 1;
          return 'x'.repeat(1_000);
        },
      }),
    );
    expect(await send(eventOf('a'))).toHaveProperty('status', 200);
    expect(calls).toBe(1);
  });
});

describe('a key that is wrong fails the event by the name of its handler', () => {
  const wrong = [
    ['undefined', () => undefined, 'got undefined'],
    ['null', () => null, 'got null'],
    ['a number', () => 4711, 'got number'],
    ['an object', () => ({ id: 'secret' }), 'got Object'],
    ['an empty string', () => '', 'got a string of 0'],
    ['a long string', () => 'secret'.padEnd(1_001), 'got a string of 1001'],
    ['a promise of a text', async () => 'secret', 'got Promise'],
    ['a promise that rejects', () => Promise.reject(new Error('late')), 'got Promise'],
    ['an error', throwing('no key'), 'no key'],
  ] as const;

  test.each(wrong)('%s', async (_name, concurrencyKey, message) => {
    const { send, reports } = openDirectly({}, (receiver) => {
      const options: object = { name: 'book', concurrencyKey };
      receiver.on('*', () => {}, options);
    });
    expect(await send(eventOf('a'))).toEqual(refused(500, 'handler_failed'));
    expect(reports.all[0]?.error?.message).toContain('"book"');
    expect(reports.all[0]?.error?.message).toContain(message);
    expect(reports.all[0]?.error?.message).not.toMatch(/secret|4711/);
    expect(reports.all[0]?.handlers).toMatchObject([{ name: 'book', ok: false }]);
  });
});
