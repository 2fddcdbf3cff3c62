import { ConfigurationError } from 'posthorn';
import { createBullQueue, createBullWorker } from 'posthorn/bullmq';
import { describe, expect, test } from 'vitest';

describe('the options', () => {
  const connection = { host: '127.0.0.1' };
  test.each([
    ['a connection', { scope: 'a' }, /connection of createBull\w+ must be options/],
    ['a scope', { connection }, /scope of createBull\w+ is required/],
    ['a scope without colons', { connection, scope: 'a:b' }, /scope of createBull\w+ is required/],
    ['no other', { connection, scope: 'a', attempts: 1 }, /"attempts" is not an option/],
  ])('are checked: %s', (_what, options, message) => {
    const receiver = { dispatch: () => {}, deadLetters: undefined };
    const calls = [
      (): unknown => Reflect.apply(createBullQueue, undefined, [options]),
      (): unknown => Reflect.apply(createBullWorker, undefined, [receiver, options]),
    ];
    for (const call of calls) {
      expect(call).toThrow(ConfigurationError);
      expect(call).toThrow(message);
    }
  });

  test('are checked: concurrency, and the receiver', () => {
    const options = { connection, scope: 'a' };
    const create =
      (...given: unknown[]) =>
      () =>
        Reflect.apply(createBullWorker, undefined, given);
    expect(create({ dispatch: () => {} }, { ...options, concurrency: 0 })).toThrow(/concurrency/);
    expect(create(options)).toThrow(/^createBullWorker takes a receiver, which createReceiver returns/);
  });
});
