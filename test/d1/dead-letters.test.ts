import { randomBytes, randomUUID } from 'node:crypto';
import { createD1DeadLetters, createD1Store } from 'posthorn/d1';
import { describe, expect, test } from 'vitest';
import { createLetter, deadLettersConformance } from '../dead-letters/conformance.ts';
import { serverDeadLettersConformance } from '../dead-letters/server-conformance.ts';
import { ampleTime } from '../support/limits.ts';
import { readAll } from '../support/read-all.ts';
import { faults } from './binding.ts';
import { useD1 } from './fixture.ts';

const scope = 'letters-test';

describe('dead letters in D1', () => {
  const d1 = useD1();
  const open = () => createD1DeadLetters(d1.binding, { scope, ...ampleTime });
  const parts = () => d1.connection.prepare('select 1 from posthorn_dead_letter_parts').all().length;

  for (const { name, check } of deadLettersConformance)
    test(name, () => check(createD1DeadLetters(d1.binding, { scope: randomUUID(), ...ampleTime })));
  for (const { name, check } of serverDeadLettersConformance)
    test(name, () =>
      check((scope) => ({
        deadLetters: createD1DeadLetters(d1.binding, { scope, ...ampleTime }),
        store: createD1Store(d1.binding, { scope, ...ampleTime }),
      })),
    );

  test('a letter past the limit of a row is split, and read whole, by its id and in a list', async () => {
    const deadLetters = open();
    const rawBody = randomBytes(4_000_000);
    const message = '💶é'.repeat(500_000);
    await deadLetters.put(createLetter({ id: 'before', parkedAt: 1 }));
    await deadLetters.put(createLetter({ id: 'long', parkedAt: 2, rawBody, message }));
    await deadLetters.put(createLetter({ id: 'after', parkedAt: 3 }));
    expect(parts()).toBeGreaterThan(8);
    const listed = await readAll(deadLetters.list());
    expect(listed.map(({ id }) => id)).toEqual(['before', 'long', 'after']);
    for (const letter of [await deadLetters.get('long'), listed[1]]) {
      expect(Buffer.from(letter?.rawBody ?? []).equals(rawBody)).toBe(true);
      expect(letter?.message === message).toBe(true);
    }
    await deadLetters.put(createLetter({ id: 'long', rawBody: Buffer.from('short') }));
    expect(parts()).toBe(0);
    expect(String((await deadLetters.get('long'))?.rawBody)).toBe('short');
  });

  test('a letter whose last part fails is not there, and the one in its place stays whole', async () => {
    const deadLetters = open();
    const first = randomBytes(2_000_000);
    await deadLetters.put(createLetter({ id: 'evt', rawBody: first }));
    d1.connection.exec(`create trigger full before insert on posthorn_dead_letter_parts when new.part = 2
begin select raise(abort, 'exceeded maximum DB size'); end`);
    const rawBody = randomBytes(3_000_000);
    for (const id of ['evt', 'new'])
      await expect(deadLetters.put(createLetter({ id, rawBody }))).rejects.toMatchObject({
        code: 'dead_letters_unavailable',
        message: expect.stringContaining('the database is full'),
      });
    expect(await deadLetters.get('new')).toBeUndefined();
    expect(Buffer.from((await deadLetters.get('evt'))?.rawBody ?? []).equals(first)).toBe(true);
  });

  test('a split letter that goes while it is listed is left out, and the list goes on', async () => {
    const deadLetters = open();
    await deadLetters.put(createLetter({ id: 'long', parkedAt: 1, rawBody: randomBytes(2_000_000) }));
    await deadLetters.put(createLetter({ id: 'after', parkedAt: 2 }));
    d1.binding.nextFault = () => async (run) => {
      const results = run();
      d1.binding.nextFault = () => undefined;
      await deadLetters.remove('long');
      return results;
    };
    expect((await readAll(deadLetters.list())).map(({ id }) => id)).toEqual(['after']);
    expect(parts()).toBe(0);
  });

  test.each(Object.entries(faults))('%s: it is tried again', async (_name, fault) => {
    let isFaulty = false;
    d1.binding.nextFault = () => {
      isFaulty = !isFaulty;
      return isFaulty ? fault : undefined;
    };
    const deadLetters = open();
    await deadLetters.put(createLetter({ id: 'evt' }));
    expect((await readAll(deadLetters.list())).map(({ id }) => id)).toEqual(['evt']);
    await deadLetters.remove('evt');
    expect(await deadLetters.get('evt')).toBeUndefined();
  });
});

test('refuses what is not a D1 database', () => {
  const create = (...args: unknown[]) => Reflect.apply(createD1DeadLetters, undefined, args);
  expect(() => create({}, { scope })).toThrow(/createD1DeadLetters takes a D1 database/);
});
