import { Client, Pool } from 'pg';
import { ConfigurationError } from 'posthorn';
import { createBullQueue, createBullWorker } from 'posthorn/bullmq';
import { describe, expect, test } from 'vitest';

describe('the options', () => {
  const connection = { host: '127.0.0.1' };
  const backend = 'postgres';
  const ofPool = /connection of createBull\w+ must be a pool of pg 8 with backend: 'postgres': new Pool\(/;
  test.each([
    ['a connection', { scope: 'a' }, /connection of createBull\w+ must be options/],
    ['a scope', { connection }, /scope of createBull\w+ is required/],
    ['a scope without colons', { connection, scope: 'a:b' }, /scope of createBull\w+ is required/],
    ['no other', { connection, scope: 'a', attempts: 1 }, /"attempts" is not an option/],
    [
      'the backend',
      { backend: 'postgresql', connection, scope: 'a' },
      /^backend of createBull\w+ must be 'redis' or 'postgres', got "postgresql"$/,
    ],
    ['a pool', { backend, scope: 'a' }, ofPool],
    ['a pool, not its options', { backend, connection, scope: 'a' }, ofPool],
    ['a pool, not an address', { backend, connection: 'postgres://127.0.0.1', scope: 'a' }, ofPool],
    ['a pool, not a client', { backend, connection: new Client(), scope: 'a' }, ofPool],
    [
      'a pool with room',
      { backend, connection: new Pool({ max: 1 }), scope: 'a' },
      /^connection of createBull\w+ must be a pool of two clients or more, .*; its max is 1$/,
    ],
    ['a scope of a pool', { backend, connection: new Pool() }, /scope of createBull\w+ is required/],
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

  test.each([0.9, 1])('are checked: maxMemoryShare is for Redis alone, %d', (maxMemoryShare) => {
    const create = (): unknown =>
      createBullQueue({ backend, connection: new Pool(), scope: 'a', maxMemoryShare });
    expect(create).toThrow(ConfigurationError);
    expect(create).toThrow(/^maxMemoryShare is about the memory of Redis: leave it out/);
  });
});
