import { randomBytes, randomUUID } from 'node:crypto';
import { createDynamoDeadLetters } from 'posthorn/dynamodb';
import { afterEach, describe, expect, test } from 'vitest';
import { ampleTime } from '../../support/limits.ts';
import { readAll } from '../../support/read-all.ts';
import { until } from '../../support/until.ts';
import { createLetter } from '../kit/conformance.ts';
import { useDynamo } from './fixture.ts';
import { type Exchange, pass, refuse, silent, type Treatment } from './proxy.ts';

const dynamo = useDynamo();
const { table } = dynamo;
afterEach(() => {
  dynamo.proxy.treat = () => pass;
});

const open = (scope: string) => createDynamoDeadLetters(dynamo.client, { table, scope, ...ampleTime });
const openByProxy = (scope: string, limit: { readonly commandTimeoutMs?: number } = ampleTime) =>
  createDynamoDeadLetters(dynamo.openClient(), { table, scope, ...limit });
const partsOf = (scope: string) => dynamo.items(`${scope}#letter-parts#`);
const bodyOf = async (scope: string, id: string) => Buffer.from((await open(scope).get(id))?.rawBody ?? []);

/** Treats the requests that `matches` chooses. */
function treatIf(matches: (exchange: Exchange) => boolean, treatment: Treatment): void {
  dynamo.proxy.treat = (exchange) => (matches(exchange) ? treatment : pass);
}

const isPart = ({ parameters }: Exchange) => parameters.includes('#letter-parts#');
/** The write of a letter's own item, or its removal, which leaves a tombstone. */
type ItemWrite = 'write' | 'removal';
const isItemWrite =
  (kind: ItemWrite) =>
  ({ operation, parameters }: Exchange): boolean =>
    operation === 'UpdateItem' &&
    parameters.includes('#dead-letters') &&
    parameters.includes('":removal"') === (kind === 'removal');
const isPartsGone = (scope: string) => async () => (await partsOf(scope)).length === 0;

describe('a letter past the limit of an item', () => {
  test('is split, and read whole, by its id and in a list', async () => {
    const scope = randomUUID();
    const deadLetters = open(scope);
    const rawBody = randomBytes(3_000_000);
    const message = '💶é'.repeat(100_000);
    await deadLetters.put(createLetter({ id: 'before', parkedAt: 1 }));
    await deadLetters.put(createLetter({ id: 'long', parkedAt: 2, rawBody, message }));
    await deadLetters.put(createLetter({ id: 'after', parkedAt: 3 }));
    // Random bytes take little more room than without base64.
    expect(await partsOf(scope)).toHaveLength(11);
    const listed = await readAll(deadLetters.list());
    expect(listed.map(({ id }) => id)).toEqual(['before', 'long', 'after']);
    for (const letter of [await deadLetters.get('long'), listed[1]]) {
      expect(Buffer.from(letter?.rawBody ?? []).equals(rawBody)).toBe(true);
      expect(letter?.message === message).toBe(true);
    }
    await deadLetters.put(createLetter({ id: 'long', rawBody: Buffer.from('short') }));
    await until('the parts are gone', isPartsGone(scope));
    expect(String(await bodyOf(scope, 'long'))).toBe('short');
    await deadLetters.put(createLetter({ id: 'long', rawBody }));
    expect(await deadLetters.remove('long')).toBe(true);
    await until('the parts are gone', isPartsGone(scope));
  });

  test('whose part fails is not there, and the one in its place stays whole', async () => {
    const scope = randomUUID();
    const deadLetters = openByProxy(scope);
    const first = randomBytes(1_000_000);
    await deadLetters.put(createLetter({ id: 'evt', rawBody: first }));
    const isSecondPart = ({ operation, parameters }: Exchange) =>
      operation === 'PutItem' && /#letter-parts#.*#0002"/.test(parameters);
    treatIf(isSecondPart, refuse(400, 'AccessDeniedException'));
    const rawBody = randomBytes(900_000);
    for (const id of ['evt', 'new'])
      await expect(deadLetters.put(createLetter({ id, rawBody }))).rejects.toMatchObject({
        code: 'dead_letters_unavailable',
      });
    expect(await deadLetters.get('new')).toBeUndefined();
    expect((await bodyOf(scope, 'evt')).equals(first)).toBe(true);
    await until('only the parts of the old letter are left', async () => (await partsOf(scope)).length === 4);
  });

  test('whose part gets no answer in time leaves no other part behind', async () => {
    const scope = randomUUID();
    const isSecondPart = ({ operation, parameters }: Exchange) =>
      operation === 'PutItem' && /#letter-parts#.*#0002"/.test(parameters);
    treatIf(isSecondPart, silent(false));
    const failure = openByProxy(scope, {}).put(createLetter({ id: 'evt', rawBody: randomBytes(900_000) }));
    await expect(failure).rejects.toThrow(/did not answer in 5000 ms/);
    await until('the parts are gone', isPartsGone(scope));
  });

  test('whose own item fails is not there, and the one in its place stays whole', async () => {
    const scope = randomUUID();
    const deadLetters = openByProxy(scope);
    const first = randomBytes(1_000_000);
    await deadLetters.put(createLetter({ id: 'evt', rawBody: first }));
    treatIf(isItemWrite('write'), refuse(400, 'AccessDeniedException'));
    for (const id of ['evt', 'new'])
      await expect(deadLetters.put(createLetter({ id, rawBody: randomBytes(900_000) }))).rejects.toThrow();
    expect(await deadLetters.get('new')).toBeUndefined();
    expect((await bodyOf(scope, 'evt')).equals(first)).toBe(true);
  });

  test('whose item was written, but with an answer that cannot be read, keeps its parts', async () => {
    const scope = randomUUID();
    const deadLetters = openByProxy(scope);
    const rawBody = randomBytes(900_000);
    treatIf(isItemWrite('write'), async ({ run, reply }) => {
      await run();
      reply({ status: 200, body: '{"garbled' });
    });
    await expect(deadLetters.put(createLetter({ id: 'evt', rawBody }))).rejects.toThrow();
    expect((await bodyOf(scope, 'evt')).equals(rawBody)).toBe(true);
  });

  /** Has the last request of this kind for the letter's own item run once more, later. */
  function captureLast(kind: ItemWrite): () => Promise<unknown> {
    let again: (() => Promise<unknown>) | undefined;
    treatIf(isItemWrite(kind), async (exchange) => {
      await pass(exchange);
      again = exchange.run;
    });
    return async () => again?.();
  }

  // The first write of a letter, and the second one, which keeps the place of one of the same moment.
  test.each([1, 2])('stays, though an earlier write arrives once more, late: %d', async (write) => {
    const scope = randomUUID();
    const letter = createLetter({ id: 'evt', rawBody: randomBytes(900_000), parkedAt: 1_000 });
    const runAgain = captureLast('write');
    const deadLetters = openByProxy(scope);
    if (write === 2) await deadLetters.put(letter);
    await deadLetters.put(letter);
    const later = randomBytes(800_000);
    await open(scope).put({ ...letter, rawBody: later, parkedAt: write === 2 ? 1_000 : 2_000 });
    await runAgain();
    expect((await bodyOf(scope, 'evt')).equals(later)).toBe(true);
  });

  // A write that was done again would need the parts that the removal has deleted.
  test.each(['write', 'removal'] as const)(
    'stays removed, though a %s arrives once more, late',
    async (kind) => {
      const scope = randomUUID();
      const runAgain = captureLast(kind);
      const deadLetters = openByProxy(scope);
      await deadLetters.put(createLetter({ id: 'evt', rawBody: randomBytes(900_000) }));
      expect(await deadLetters.remove('evt')).toBe(true);
      await runAgain();
      expect(await deadLetters.get('evt')).toBeUndefined();
      expect(await deadLetters.count?.({ limit: 9 })).toBe(0);
      expect(await readAll(deadLetters.list())).toEqual([]);
      expect(await deadLetters.remove('evt')).toBe(false);
    },
  );

  /** Loses the answer to the first write of this kind to the letter's own item, some time later. */
  function loseFirstAnswer(kind: ItemWrite, meanwhile: () => Promise<unknown>): void {
    let isLost = false;
    treatIf(
      (exchange) => !isLost && isItemWrite(kind)(exchange),
      async ({ run, cut }) => {
        isLost = true;
        await run();
        await meanwhile();
        cut();
      },
    );
  }

  test('is whole, though another one took its place before its writer knew', async () => {
    const scope = randomUUID();
    const rawBody = randomBytes(900_000);
    const faster = createLetter({ id: 'evt', rawBody: randomBytes(900_000), parkedAt: 2 });
    loseFirstAnswer('write', () => open(scope).put(faster));
    await openByProxy(scope).put(createLetter({ id: 'evt', rawBody, parkedAt: 1 }));
    expect((await bodyOf(scope, 'evt')).equals(rawBody)).toBe(true);
    expect(await readAll(open(scope).list())).toHaveLength(1);
    await until('the other parts are gone', async () => (await partsOf(scope)).length === 4);
  });

  test('that was removed before its writer knew does not come back', async () => {
    const scope = randomUUID();
    loseFirstAnswer('write', () => open(scope).remove('evt'));
    await openByProxy(scope).put(createLetter({ id: 'evt', rawBody: randomBytes(900_000) }));
    expect(await open(scope).get('evt')).toBeUndefined();
    expect(await readAll(open(scope).list())).toEqual([]);
  });

  test.each([true, false])(
    'is removed, though the answer is lost, by one of two: first %s',
    async (isFirst) => {
      const scope = randomUUID();
      const letter = createLetter({ id: 'evt' });
      await open(scope).put(letter);
      const removals: boolean[] = [];
      if (isFirst) loseFirstAnswer('removal', async () => removals.push(await open(scope).remove('evt')));
      else {
        let isPassed = false;
        treatIf(
          ({ operation }) => operation === 'UpdateItem' && !isPassed,
          async (exchange) => {
            isPassed = true;
            removals.push(await open(scope).remove('evt'));
            await pass(exchange);
          },
        );
      }
      removals.unshift(await openByProxy(scope).remove('evt'));
      expect(removals).toEqual([isFirst, !isFirst]);
    },
  );

  test('stays, though the removal of an earlier one arrives once more, late', async () => {
    const scope = randomUUID();
    const letter = createLetter({ id: 'evt' });
    const runAgain = captureLast('removal');
    const deadLetters = openByProxy(scope);
    await deadLetters.put(letter);
    await deadLetters.remove('evt');
    await open(scope).put(letter);
    await runAgain();
    expect(await open(scope).get('evt')).toBeDefined();
  });

  test.each(['written anew', 'removed'])('that is %s while it is read is whole or gone', async (change) => {
    const scope = randomUUID();
    const letter = createLetter({ id: 'evt', rawBody: randomBytes(900_000), parkedAt: 1 });
    await open(scope).put(letter);
    await open(scope).put(createLetter({ id: 'after', parkedAt: 2 }));
    const later = randomBytes(1_000_000);
    const changeOnce = (): void => {
      let isChanged = false;
      treatIf(
        (exchange) => exchange.operation === 'Query' && isPart(exchange) && !isChanged,
        async (exchange) => {
          isChanged = true;
          if (change === 'removed') await open(scope).remove('evt');
          else await open(scope).put({ ...letter, rawBody: later });
          await pass(exchange);
        },
      );
    };
    const deadLetters = openByProxy(scope);
    changeOnce();
    const found = await deadLetters.get('evt');
    if (change === 'removed') expect(found).toBeUndefined();
    else expect(Buffer.from(found?.rawBody ?? []).equals(later)).toBe(true);
    await open(scope).put(letter);
    changeOnce();
    const ids = (await readAll(deadLetters.list())).map(({ id }) => id);
    expect(ids).toEqual(change === 'removed' ? ['after'] : ['evt', 'after']);
  });

  test('whose part is missing is unreadable, and does not hide the others', async () => {
    const scope = randomUUID();
    const deadLetters = openByProxy(scope);
    // The answer says that the part was written.
    treatIf(
      ({ parameters }) => /#0002"/.test(parameters),
      async ({ reply }) => reply({ status: 200, body: '{}' }),
    );
    await deadLetters.put(createLetter({ id: 'broken', rawBody: randomBytes(900_000), parkedAt: 1 }));
    await deadLetters.put(createLetter({ id: 'whole', parkedAt: 2 }));
    await expect(deadLetters.get('broken')).rejects.toMatchObject({ code: 'dead_letter_unreadable' });
    const seen: string[] = [];
    const reading = (async () => {
      for await (const { id } of deadLetters.list()) seen.push(id);
    })();
    await expect(reading).rejects.toMatchObject({ code: 'dead_letter_unreadable' });
    expect(seen).toEqual(['whole']);
    expect(await deadLetters.remove('broken')).toBe(true);
  });

  test.each(['put', 'removal'])(
    'does not keep a %s waiting for the parts of an old version',
    async (operation) => {
      const scope = randomUUID();
      const letter = createLetter({ id: 'evt', rawBody: randomBytes(900_000) });
      // An operation that waited for what is never answered would last longer than this test.
      const deadLetters = openByProxy(scope, { commandTimeoutMs: 3_600_000 });
      await deadLetters.put(letter);
      treatIf(({ operation }) => operation === 'DeleteItem', silent(false));
      if (operation === 'put') await deadLetters.put({ ...letter, rawBody: Buffer.from('short') });
      else expect(await deadLetters.remove('evt')).toBe(true);
    },
  );

  test('a letter that fails to be tidied up is stored all the same', async () => {
    const scope = randomUUID();
    const letter = createLetter({ id: 'evt', rawBody: randomBytes(900_000) });
    const deadLetters = openByProxy(scope);
    await deadLetters.put(letter);
    treatIf(({ operation }) => operation === 'DeleteItem', refuse(400, 'AccessDeniedException'));
    await deadLetters.put({ ...letter, rawBody: Buffer.from('short') });
    expect(String(await bodyOf(scope, 'evt'))).toBe('short');
  });
});
