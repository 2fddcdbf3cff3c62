import { createHash, randomBytes, randomUUID } from 'node:crypto';
import type { DeadLetter } from 'posthorn';
import { createD1DeadLetters, createD1Store } from 'posthorn/d1';
import { createEvent } from 'posthorn/testing';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { d1Migrations } from '../../../src/stores/d1/migrate.ts';
import { errorOf } from '../../support/error-of.ts';
import { fakeTime } from '../../support/fake-time.ts';
import { ampleTime } from '../../support/limits.ts';
import { readAll } from '../../support/read-all.ts';
import { silenced } from '../../support/silenced.ts';
import { createLetter, deadLettersConformance, expectCounts } from '../kit/conformance.ts';
import { serverDeadLettersConformance } from '../kit/server-conformance.ts';
import { delayed, faults } from './binding.ts';
import { useD1 } from './fixture.ts';

const scope = 'letters-test';

/** To compare letters whose bodies are long. */
function digested(letter: DeadLetter | undefined) {
  return {
    ...letter,
    rawBody: createHash('sha256')
      .update(letter?.rawBody ?? '')
      .digest('hex'),
  };
}

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

  test('are counted up to a limit', async () => {
    const deadLetters = open();
    await createD1DeadLetters(d1.binding, { scope: 'other' }).put(createLetter({ id: '1' }));
    await expectCounts(deadLetters);
  });

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
      await expect(deadLetters.put(createLetter({ id, rawBody }))).rejects.toMatchObject(
        errorOf('dead_letters_unavailable', 'the database is full'),
      );
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

  test.each([
    ['a row', 1_000],
    ['several rows', 2_000_000],
  ])('what arrives after its caller has given up does nothing: a letter of %s', async (_kind, bytes) => {
    const pass = fakeTime();
    const start = Date.now() - performance.now();
    d1.connection.setClock(() => start + performance.now());
    const deadLetters = createD1DeadLetters(d1.binding, { scope });
    const kept = createLetter({ id: 'kept', rawBody: randomBytes(bytes) });
    await deadLetters.put(kept);
    let arrive = (): void => {};
    const arrival = new Promise<void>((resolve) => {
      arrive = resolve;
    });
    d1.binding.nextFault = () => delayed(arrival);
    const writes = Promise.allSettled([
      deadLetters.put(createLetter({ id: 'evt', rawBody: randomBytes(bytes) })),
      deadLetters.put(createLetter({ id: 'kept', rawBody: randomBytes(2 * bytes) })),
      deadLetters.remove('kept'),
    ]);
    await pass(5_000);
    const message = expect.stringContaining('D1 did not answer in 5000 ms');
    const refused = { status: 'rejected', reason: expect.objectContaining({ message }) };
    expect(await writes).toEqual([refused, refused, refused]);
    d1.binding.nextFault = () => undefined;
    arrive();
    // What has arrived runs before the next turn of the event loop, with what follows from its refusal.
    await new Promise(setImmediate);
    expect((await readAll(deadLetters.list())).map(digested)).toEqual([digested(kept)]);
  });

  test.each([-60_000, 60_000])(
    'a clock of the Worker that differs by %d ms refuses nothing',
    async (skewMs) => {
      d1.connection.setClock(() => Date.now() + skewMs);
      const deadLetters = open();
      await deadLetters.put(createLetter({ id: 'evt' }));
      expect(await open().remove('evt')).toBe(true);
      await deadLetters.put(createLetter({ id: 'evt' }));
      expect(await deadLetters.get('evt')).toBeDefined();
    },
  );

  test.each([
    ['its first part is gone', 'delete from parts where part = 0', /only 3 of its 4 parts are there/],
    ['a middle part is gone', 'delete from parts where part = 1', /only 3 of its 4 parts are there/],
    ['its last part is gone', 'delete from parts where part = 3', /only 3 of its 4 parts are there/],
    ['two parts are gone', 'delete from parts where part in (1, 2)', /only 2 of its 4 parts are there/],
    ['all parts are gone', 'delete from parts', /none of its parts are there/],
    [
      'a part is shorter',
      'update parts set text = substr(text, 5) where part = 1',
      /it has \d+ bytes, not \d+/,
    ],
    [
      'a part is of another writing',
      'update parts set letter_bytes = 7 where part = 2',
      /its parts are of two writings/,
    ],
    [
      'a part is of an earlier posthorn',
      'update parts set part_count = null where part = 2',
      /of two writings/,
    ],
  ])('a letter is refused if %s, and hides no other', async (_damage, sql, reason) => {
    const deadLetters = open();
    const rawBody = Buffer.from(
      JSON.stringify({ ...createEvent('transfer.failed'), padding: 'x'.repeat(1_500_000) }),
    );
    await deadLetters.put(createLetter({ id: 'half', parkedAt: 1, rawBody }));
    await deadLetters.put(createLetter({ id: 'whole', parkedAt: 2 }));
    d1.connection.exec(sql.replace('parts', 'posthorn_dead_letter_parts'));
    const error = { code: 'dead_letter_unreadable', message: expect.stringMatching(reason) };
    await expect(deadLetters.get('half')).rejects.toMatchObject(error);
    const seen: string[] = [];
    const reading = (async () => {
      for await (const { id } of deadLetters.list()) seen.push(id);
    })();
    await expect(reading).rejects.toMatchObject(error);
    expect(seen).toEqual(['whole']);
    // It is replaced by a new writing, and can be removed.
    await deadLetters.put(createLetter({ id: 'half', rawBody }));
    expect(rawBody.equals((await deadLetters.get('half'))?.rawBody ?? Buffer.alloc(0))).toBe(true);
    expect(await deadLetters.remove('half')).toBe(true);
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

/** The tables of the first version do not say it, and have no sizes of letters. */
describe('dead letters in D1, on tables that were not migrated', () => {
  const d1 = useD1(d1Migrations.slice(0, 1));
  const long = () => createLetter({ id: 'long', rawBody: randomBytes(2_000_000) });

  test('are stored, read, listed and removed; what to run is said once', async () => {
    const said = silenced('error');
    const deadLetters = createD1DeadLetters(d1.binding, { scope, ...ampleTime });
    const letters = [createLetter({ id: 'short', parkedAt: 1 }), { ...long(), parkedAt: 2 }];
    for (const letter of [...letters, ...letters]) await deadLetters.put(letter);
    expect((await readAll(deadLetters.list())).map(digested)).toEqual(letters.map(digested));
    expect(await deadLetters.remove('long')).toBe(true);
    expect(said.mock.calls).toEqual([
      [expect.stringMatching(/version 1, .* knows 2: .*"npx posthorn d1 sql --from 1".* migrations apply/)],
    ]);
  });

  test('are refused if a part in the middle is missing', async () => {
    vi.spyOn(console, 'error').mockImplementation(() => {});
    onTestFinished(() => void vi.restoreAllMocks());
    const deadLetters = createD1DeadLetters(d1.binding, { scope, ...ampleTime });
    await deadLetters.put(long());
    d1.connection.exec('delete from posthorn_dead_letter_parts where part = 2');
    await expect(deadLetters.get('long')).rejects.toMatchObject(
      errorOf('dead_letter_unreadable', 'a part of it is missing'),
    );
  });

  test('say how long they are once the tables are migrated, without a new isolate', async () => {
    const said = silenced('error');
    const deadLetters = createD1DeadLetters(d1.binding, { scope, ...ampleTime });
    const sizes = () => d1.connection.prepare('select part_count from posthorn_dead_letter_parts').all();
    const letter = long();
    await deadLetters.put(letter);
    d1.connection.exec(d1Migrations.slice(1).join(''));
    expect(sizes()).toEqual(Array(5).fill({ part_count: null }));
    expect(digested(await deadLetters.get('long'))).toEqual(digested(letter));
    await deadLetters.put(letter);
    expect(sizes()).toEqual(Array(5).fill({ part_count: 5 }));
    expect(digested(await deadLetters.get('long'))).toEqual(digested(letter));
    expect(said).toHaveBeenCalledTimes(1);
  });
});

test('refuses what is not a D1 database', () => {
  const create = (...args: unknown[]) => Reflect.apply(createD1DeadLetters, undefined, args);
  expect(() => create({}, { scope })).toThrow(/createD1DeadLetters takes a D1 database/);
});
