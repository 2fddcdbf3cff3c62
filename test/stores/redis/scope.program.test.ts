import { ConfigurationError, createReceiver } from 'posthorn';
import { createRedisDeadLetters, createRedisStore } from 'posthorn/redis';
import { createEvent } from 'posthorn/testing';
import { describe, expect, test } from 'vitest';
import { ampleTime } from '../../support/limits.ts';
import { createLetter } from '../kit/conformance.ts';
import { KEY, serve } from './deliveries.ts';
import { useRedis } from './fixture.ts';

const times = { token: 'a', leaseMs: 20_000, retentionMs: 60_000 };

describe('a scope', () => {
  const fixture = useRedis();

  test('begins every key', async () => {
    fixture.redis.command('flushall');
    const client = await fixture.connect();
    await createRedisStore(client, { scope: 'billing', ...ampleTime }).claim({ ...times, id: 'a' });
    await createRedisStore(client, { scope: 'billing', ...ampleTime }).complete({ ...times, id: '{b}' });
    await createRedisDeadLetters(client, { scope: 'billing', ...ampleTime }).put(createLetter({ id: 'c' }));
    await createRedisDeadLetters(client, { scope: 'billing', ...ampleTime }).remove('c');
    await createRedisDeadLetters(client, { scope: 'billing', ...ampleTime }).put(createLetter({ id: 'd' }));
    const keys = fixture.redis.command('keys', '*').split('\n');
    expect(keys).toHaveLength(5);
    expect(keys.filter((key) => !key.startsWith('billing'))).toEqual([]);
  });

  test('never answers for another', async () => {
    const client = await fixture.connect();
    const scopes = ['a', 'a.b', 'ab', 'a-', 'A', 'a_'];
    const ids = ['b:c', 'c', 'a:c', '{a}', '/dead-letters{a}:letters', ''];
    for (const scope of scopes) {
      const store = createRedisStore(client, { scope, ...ampleTime });
      for (const id of ids) {
        expect((await store.claim({ ...times, id })).state).toBe('claimed');
        await store.complete({ ...times, id });
      }
    }
  });

  test('two receivers on one Redis each handle every event', async () => {
    const client = await fixture.connect();
    const handled: string[] = [];
    const deliveries = ['staging', 'production'].map((scope) =>
      serve(
        createReceiver({ signingKey: KEY, store: createRedisStore(client, { scope, ...ampleTime }) })
          .on('*', ({ id }) => void handled.push(`${scope} ${id}`))
          .observe(() => {}),
      ),
    );
    const events = Array.from({ length: 5 }, () => createEvent('transfer.created'));
    for (const event of events) {
      for (const deliver of await Promise.all(deliveries)) {
        expect((await deliver(event)).outcome).toBe('processed');
        expect((await deliver(event)).outcome).toBe('duplicate');
      }
    }
    expect(handled).toEqual(events.flatMap(({ id }) => [`staging ${id}`, `production ${id}`]));
  });

  test.each([undefined, '', 'a:b', 'a b', '{a}', 'a/b', 'é', 7, 'x'.repeat(65)])(
    'must not be %j',
    async (scope) => {
      const client = await fixture.connect();
      for (const create of [createRedisStore, createRedisDeadLetters]) {
        const options = JSON.parse(JSON.stringify({ scope }));
        expect(() => create(client, options)).toThrow(ConfigurationError);
        expect(() => create(client, options)).toThrow(/scope .* is required: 1 to 64 letters, digits/);
      }
    },
  );
});

describe('createRedisStore', () => {
  const client = {
    status: 'ready',
    eval: fail,
    evalsha: fail,
    disconnect: () => {},
  };
  async function fail(): Promise<never> {
    throw new Error('not to be called');
  }

  test('refuses what is no client', () => {
    for (const wrong of [undefined, null, {}, 'redis://127.0.0.1', { ...client, eval: undefined }]) {
      expect(() => Reflect.apply(createRedisStore, undefined, [wrong, { scope: 'a' }])).toThrow(
        /takes a client of ioredis/,
      );
    }
  });

  test('refuses wrong options', () => {
    for (const commandTimeoutMs of [0, -1, 1.5, Number.NaN, 2 ** 31]) {
      expect(() => createRedisStore(client, { scope: 'a', commandTimeoutMs })).toThrow(
        /commandTimeoutMs must be/,
      );
    }
    const unknown = { scope: 'a', timeout: 1 };
    expect(() => createRedisStore(client, unknown)).toThrow(/"timeout" is not an option of createRedisStore/);
    expect(() => Reflect.apply(createRedisStore, undefined, [client])).toThrow(/takes an object of options/);
  });
});
