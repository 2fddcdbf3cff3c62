import { randomBytes, randomUUID } from 'node:crypto';
import { createReceiver, type DeadLetter, type DeadLetters } from 'posthorn';
import {
  createPostgresDeadLetters,
  createPostgresStore,
  migratePostgres,
  type PostgresPool,
} from 'posthorn/postgres';
import { createEvent } from 'posthorn/testing';
import { beforeAll, describe, expect, test } from 'vitest';
import { deadLettersConformance } from '../dead-letters/conformance.ts';
import { KEY, serve } from '../redis/deliveries.ts';
import { letterOf } from '../redis/letter.ts';
import { usePostgres } from './fixture.ts';
import { isPostgresInstalled } from './installed.ts';

async function idsOf(list: AsyncIterable<DeadLetter>): Promise<string[]> {
  const ids: string[] = [];
  for await (const { id } of list) ids.push(id);
  return ids;
}

describe.skipIf(!isPostgresInstalled())('dead letters in PostgreSQL', () => {
  const fixture = usePostgres();
  let client: PostgresPool;
  let letters: DeadLetters;

  beforeAll(() => {
    client = fixture.connect();
  });

  function fresh(): DeadLetters {
    letters = createPostgresDeadLetters(client, { scope: randomUUID() });
    return letters;
  }

  for (const { name, check } of deadLettersConformance) test(name, () => check(fresh()));

  test('are kept exactly', async () => {
    const { put, get } = fresh();
    const rawBody = randomBytes(1_500_000);
    for (const id of ['a', '', 'late', 'x'.repeat(10_000), '\ud800', '{b}', 'ü']) {
      const letter = { ...letterOf(id), rawBody };
      await put(letter);
      const found = await get(id);
      expect({ ...found, rawBody: undefined }).toEqual({ ...letter, rawBody: undefined });
      expect(rawBody.equals(found?.rawBody ?? new Uint8Array())).toBe(true);
    }
    const { type: _type, runningUntil: _runningUntil, ...least } = letterOf('least');
    await put(least);
    expect(await get('least')).toEqual({ ...least, rawBody: Buffer.from(least.rawBody) });
    expect(await get('absent')).toBeUndefined();
  });

  test('may have any id, also a word of the protocol', async () => {
    const { put, list, remove } = fresh();
    for (const id of ['late', 'told']) await put(letterOf(id));
    expect(await idsOf(list())).toEqual(['late', 'told']);
    expect(await remove('late')).toBe(true);
    expect(await idsOf(list())).toEqual(['told']);
  });

  test('of one moment are listed in the order of their writing, one in place of another with its id', async () => {
    const { put, list, get } = fresh();
    const ids = Array.from({ length: 30 }, () => randomUUID());
    for (const id of ids) await put(letterOf(id));
    await put({ ...letterOf(ids[3] ?? ''), attempts: 7 });
    expect(await idsOf(list())).toEqual(ids);
    expect((await get(ids[3] ?? ''))?.attempts).toBe(7);
    expect(await idsOf(list({ limit: 4 }))).toEqual(ids.slice(0, 4));
    expect(await idsOf(list({ after: ids[3] ?? '', limit: 2 }))).toEqual(ids.slice(4, 6));
    expect(await idsOf(list({ limit: 0 }))).toEqual([]);
    expect(await idsOf(list({ after: ids.at(-1) ?? '' }))).toEqual([]);
  });

  test('are removed one by one, and listed on after one that is gone', async () => {
    const { put, list, get, remove } = fresh();
    const ids = ['1', '2', '3', '4'];
    for (const id of ids) await put(letterOf(id));
    expect(await remove('2')).toBe(true);
    expect(await remove('2')).toBe(false);
    expect(await get('2')).toBeUndefined();
    expect(await idsOf(list())).toEqual(['1', '3', '4']);
    expect(await idsOf(list({ after: '2' }))).toEqual(['3', '4']);
    for await (const { id } of list()) await remove(id);
    expect(await idsOf(list())).toEqual([]);
    await put({ ...letterOf('5'), parkedAt: letterOf('4').parkedAt + 1 });
    expect(await idsOf(list({ after: '4' }))).toEqual(['5']);
  });

  test('are listed to the end, though the one just seen is parked anew meanwhile', async () => {
    const { put, list, remove } = fresh();
    for (const id of ['1', '2', '3']) await put(letterOf(id));
    const seen: string[] = [];
    for await (const { id } of list()) {
      seen.push(id);
      if (seen.length > 1) continue;
      await remove(id);
      await put(letterOf(id));
    }
    expect(seen).toEqual(['1', '2', '3']);
  });

  test('of many at once none is lost', async () => {
    const { put, list } = fresh();
    const ids = Array.from({ length: 200 }, (_, index) => `letter ${index}`);
    await Promise.all(ids.map((id) => put(letterOf(id))));
    expect((await idsOf(list())).sort()).toEqual([...ids].sort());
  });

  test('of two scopes are apart', async () => {
    const one = fresh();
    const other = fresh();
    await one.put(letterOf('a'));
    expect(await other.get('a')).toBeUndefined();
    expect(await idsOf(other.list())).toEqual([]);
    expect(await other.remove('a')).toBe(false);
  });

  test('park a poison event, and a replay takes it out', async () => {
    const scope = randomUUID();
    const deadLetters = createPostgresDeadLetters(client, { scope });
    let isMended = false;
    const receiver = createReceiver({
      signingKey: KEY,
      deadLetters,
      store: createPostgresStore(client, { scope }),
    })
      .on('*', () => {
        if (!isMended) throw new Error('poison');
      })
      .observe(() => {});
    const deliver = await serve(receiver);
    const event = {
      ...createEvent('transfer.failed'),
      created_at: new Date(Date.now() - 1_000_000).toISOString(),
    };
    expect(await deliver(event)).toMatchObject({ status: 200, outcome: 'parked' });
    isMended = true;
    for await (const letter of deadLetters.list()) {
      expect((await receiver.replay(letter)).outcome).toBe('processed');
    }
    expect(await idsOf(deadLetters.list())).toEqual([]);
    expect((await deliver(event)).outcome).toBe('duplicate');
  });

  test('survive a restart of the server, removals too', async () => {
    const server = await fixture.servers.single();
    const pool = fixture.connect({ port: server.port });
    await migratePostgres(pool);
    const deadLetters = createPostgresDeadLetters(pool, { scope: 'restarted' });
    for (const id of ['1', '2', '3']) await deadLetters.put(letterOf(id));
    await deadLetters.remove('2');
    await server.stop('kill');
    await expect(deadLetters.get('1')).rejects.toMatchObject({ code: 'dead_letters_unavailable' });
    await server.restart();
    expect(await idsOf(deadLetters.list())).toEqual(['1', '3']);
    expect(await idsOf(deadLetters.list({ after: '2' }))).toEqual(['3']);
  });

  test('that were removed over a day ago leave nothing behind', async () => {
    const { put, remove } = createPostgresDeadLetters(client, { scope: 'forgotten' });
    for (const id of ['1', '2', '3']) await put(letterOf(id));
    for (const id of ['1', '2']) await remove(id);
    const keys =
      "select string_agg(key, ' ' order by key) from posthorn.dead_letters where scope = 'forgotten'";
    expect(fixture.postgres.sql(keys)).toBe('1 2 3');
    fixture.postgres.sql("update posthorn.dead_letters set removed_at = removed_at - interval '25 hours'");
    await remove('3');
    expect(fixture.postgres.sql(keys)).toBe('3');
  });
});
