import type { DeadLetters, Store } from 'posthorn';
import { createD1DeadLetters, createD1Store } from 'posthorn/d1';
import { createDynamoDeadLetters, createDynamoStore } from 'posthorn/dynamodb';
import { createPostgresDeadLetters, createPostgresStore } from 'posthorn/postgres';
import { createRedisDeadLetters, createRedisStore } from 'posthorn/redis';
import { createSqliteDeadLetters, createSqliteStore } from 'posthorn/sqlite';
import { describe, expect, test } from 'vitest';
import { fakeTime } from '../../support/fake-time.ts';
import { createLetter } from './conformance.ts';

/** The texts and the parameters of the statements that a server has got. */
type Sent = unknown[];

const never = <T>(): Promise<T> => new Promise<T>(() => {});

/** A client of each server, which notes what it is to send, and never gets an answer. */
const clients = {
  redis: (sent: Sent) => {
    const send = (...values: unknown[]) => {
      sent.push(...values);
      return never();
    };
    return { status: 'ready', eval: send, evalsha: send, disconnect: () => {} };
  },
  postgres: (sent: Sent) => {
    const client = {
      query: (text: string, values: unknown[] = []) => {
        sent.push(text, ...values);
        return never<never>();
      },
      on: () => {},
      release: () => {},
      removeListener: () => {},
    };
    return {
      totalCount: 0,
      connect: (lend: (error: undefined, lent: typeof client) => void) => lend(undefined, client),
    };
  },
  d1: (sent: Sent) => {
    const statement = {
      bind: (...values: unknown[]) => {
        sent.push(...values);
        return statement;
      },
    };
    return { prepare: () => statement, batch: () => never<never>() };
  },
  dynamodb: () => ({ send: () => never(), config: { serviceId: 'DynamoDB' } }),
  sqlite: () => ({ exec: () => {}, prepare: () => ({ run: () => {}, get: () => [0, 2], all: () => [] }) }),
};

const place = { table: 'posthorn', scope: 'limits' };
const { scope } = place;
type Limit = { readonly commandTimeoutMs?: number };

const openStore: Readonly<Record<string, (limit: Limit, sent: Sent) => Store>> = {
  createRedisStore: (limit, sent) => createRedisStore(clients.redis(sent), { scope, ...limit }),
  createPostgresStore: (limit, sent) => createPostgresStore(clients.postgres(sent), { scope, ...limit }),
  createD1Store: (limit, sent) => createD1Store(clients.d1(sent), { scope, ...limit }),
  createDynamoStore: (limit) => createDynamoStore(clients.dynamodb(), { ...place, ...limit }),
};

const openLetters: Readonly<Record<string, (limit: Limit, sent: Sent) => DeadLetters>> = {
  createRedisDeadLetters: (limit, sent) => createRedisDeadLetters(clients.redis(sent), { scope, ...limit }),
  createPostgresDeadLetters: (limit, sent) =>
    createPostgresDeadLetters(clients.postgres(sent), { scope, ...limit }),
  createD1DeadLetters: (limit, sent) => createD1DeadLetters(clients.d1(sent), { scope, ...limit }),
  createDynamoDeadLetters: (limit) => createDynamoDeadLetters(clients.dynamodb(), { ...place, ...limit }),
};

/** How long they wait for a file that is locked: test/stores/sqlite/fault-tests.ts. */
const openSqlite: Readonly<Record<string, (limit: Limit) => unknown>> = {
  createSqliteStore: (limit) => createSqliteStore(clients.sqlite(), { scope, ...limit }),
  createSqliteDeadLetters: (limit) => createSqliteDeadLetters(clients.sqlite(), { scope, ...limit }),
};

const claim = { id: 'evt', token: 't', leaseMs: 20_000, retentionMs: 60_000 };

/** An operation of each function, with a server that does not answer, and its time limit by default. */
const operations = [
  ...Object.entries(openStore).map(([name, open]) => ({
    name,
    defaultMs: 2_000,
    run: async (limit: Limit, sent: Sent = []): Promise<unknown> => open(limit, sent).claim(claim),
  })),
  ...Object.entries(openLetters).map(([name, open]) => ({
    name,
    defaultMs: name === 'createRedisDeadLetters' ? 2_000 : 5_000,
    run: async (limit: Limit, sent: Sent = []): Promise<unknown> => open(limit, sent).get('evt'),
  })),
];

describe('the option commandTimeoutMs', () => {
  test.each(Object.entries({ ...openStore, ...openLetters, ...openSqlite }))(
    'of %s is checked when the function is called',
    (_name, open) => {
      for (const commandTimeoutMs of [0, -1, 1.5, Number.NaN, 2 ** 31, '5', null])
        expect(() => Reflect.apply(open, undefined, [{ commandTimeoutMs }, []])).toThrow(
          expect.objectContaining({
            code: 'configuration_invalid',
            message: expect.stringMatching(/^commandTimeoutMs must be a whole number from 1 to/),
          }),
        );
      for (const commandTimeoutMs of [1, 60_000, undefined])
        expect(() => Reflect.apply(open, undefined, [{ commandTimeoutMs }, []])).not.toThrow();
    },
  );

  test.each(operations)(
    'of $name is how long an operation waits; $defaultMs by default',
    async (operation) => {
      const pass = fakeTime();
      for (const limit of [{}, { commandTimeoutMs: 300 }, { commandTimeoutMs: 8_000 }]) {
        const { commandTimeoutMs: limitMs = operation.defaultMs } = limit;
        let end = 'none';
        const ended = operation.run(limit).catch(({ code }) => {
          end = String(code);
        });
        // A store gives up a little earlier, so that it can say why.
        await pass(0.9 * limitMs);
        expect(end).toBe('none');
        await pass(0.1 * limitMs);
        await ended;
        expect(end).toMatch(/^(store|dead_letters)_unavailable$/);
      }
    },
  );

  test.each(operations.filter(({ name }) => /Redis|Postgres|D1Store/.test(name)))(
    'of $name is carried by the operation, for a server that gets it late',
    async ({ name, run }) => {
      const pass = fakeTime();
      const share = name === 'createD1Store' ? 0.95 : 1;
      for (const commandTimeoutMs of [400, 40_000]) {
        const sent: Sent = [];
        const earliest = Date.now();
        const ended = run({ commandTimeoutMs }, sent).catch(() => {});
        const latest = Date.now();
        await pass(100); // in which it is sent
        // The last fiftieth of the time is for clocks that run at different speeds.
        const limitMs = 0.98 * share * commandTimeoutMs;
        const times = sent.flatMap((value) => [value].flat()).map(Number);
        const carried = times.filter(
          (time) => time >= Math.floor(earliest + limitMs) && time <= latest + limitMs + 1,
        );
        expect(carried).toHaveLength(1);
        await pass(commandTimeoutMs);
        await ended;
      }
    },
  );

  test.each([
    ['an option', { commandTimeoutMs: 400 }, '80'],
    ['by default', {}, '1000'],
  ])('of createPostgresDeadLetters limits the wait for a lock: %s', async (_name, limit, lockTimeout) => {
    const pass = fakeTime();
    const sent: Sent = [];
    const letters = createPostgresDeadLetters(clients.postgres(sent), { scope, ...limit });
    const ended = Promise.allSettled([letters.put(createLetter()), letters.remove('evt')]);
    await pass(100);
    expect(
      sent.filter((text) => String(text).includes(`set_config('lock_timeout', '${lockTimeout}'`)),
    ).toHaveLength(2);
    await pass(5_000);
    await ended;
  });
});
