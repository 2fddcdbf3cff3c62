import { describe, expect, test } from 'vitest';
import { fakeTime } from '../../support/fake-time.ts';
import { createLetter } from './conformance.ts';
import { type Sent, silentStores } from './silent-stores.ts';

type Limit = { readonly commandTimeoutMs?: number };

/** The functions that take the option, by their names. */
const functions = silentStores.flatMap(({ listed, place, createStore, createDeadLetters, createJournal }) => [
  { name: listed.store, open: (limit: Limit) => createStore({ ...place, ...limit }) },
  { name: listed.deadLetters, open: (limit: Limit) => createDeadLetters({ ...place, ...limit }) },
  ...(createJournal === undefined
    ? []
    : [{ name: listed.journal, open: (limit: Limit) => createJournal({ ...place, ...limit }) }]),
]);

const claim = { id: 'evt', token: 't', leaseMs: 20_000, retentionMs: 60_000 };

/** An operation of each function, with a server that does not answer, and its time limit by default. */
const operations = silentStores
  // How long those of a file wait that is locked: test/stores/sqlite/fault-tests.ts.
  .filter(({ listed }) => listed.name !== 'sqlite')
  .flatMap(({ listed, place, createStore, createDeadLetters, createJournal }) => [
    {
      name: listed.store,
      defaultMs: 2_000,
      run: async (limit: Limit, sent: Sent = []): Promise<unknown> =>
        createStore({ ...place, ...limit }, sent).claim(claim),
    },
    {
      name: listed.deadLetters,
      defaultMs: listed.name === 'redis' ? 2_000 : 5_000,
      run: async (limit: Limit, sent: Sent = []): Promise<unknown> =>
        createDeadLetters({ ...place, ...limit }, sent).get('evt'),
    },
    ...(createJournal === undefined
      ? []
      : [
          {
            name: String(listed.journal),
            defaultMs: 5_000,
            run: async (limit: Limit, sent: Sent = []): Promise<unknown> =>
              createJournal({ ...place, ...limit }, sent).get('evt'),
          },
        ]),
  ]);

const [postgres] = silentStores.filter(({ listed }) => listed.name === 'postgres');

describe('the option commandTimeoutMs', () => {
  test.each(functions)('of $name is checked when the function is called', ({ open }) => {
    for (const commandTimeoutMs of [0, -1, 1.5, Number.NaN, 2 ** 31, '5', null])
      expect(() => Reflect.apply(open, undefined, [{ commandTimeoutMs }])).toThrow(
        expect.objectContaining({
          code: 'configuration_invalid',
          message: expect.stringMatching(/^commandTimeoutMs must be a whole number from 1 to/),
        }),
      );
    for (const commandTimeoutMs of [1, 60_000, undefined])
      expect(() => Reflect.apply(open, undefined, [{ commandTimeoutMs }])).not.toThrow();
  });

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
        expect(end).toMatch(/^(store|dead_letters|journal)_unavailable$/);
      }
    },
  );

  // A late batch of a journal does no harm: it counts once.
  test.each(operations.filter(({ name }) => /Redis|Postgres(?!Journal)|D1Store/.test(name)))(
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
    const letters = postgres?.createDeadLetters({ ...postgres.place, ...limit }, sent);
    const ended = Promise.allSettled([letters?.put(createLetter()), letters?.remove('evt')]);
    await pass(100);
    expect(
      sent.filter((text) => String(text).includes(`set_config('lock_timeout', '${lockTimeout}'`)),
    ).toHaveLength(2);
    await pass(5_000);
    await ended;
  });
});
