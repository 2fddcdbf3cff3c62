import { randomBytes, randomUUID } from 'node:crypto';
import { createReceiver, type DeadLetter, type DeadLetters } from 'posthorn';
import { createRedisDeadLetters, createRedisStore, type RedisClient } from 'posthorn/redis';
import { createEvent } from 'posthorn/testing';
import { beforeAll, describe, expect, test } from 'vitest';
import { deadLettersConformance } from '../dead-letters/conformance.ts';
import { createClusterClient, ready } from './clients.ts';
import { KEY, serve } from './deliveries.ts';
import { useRedis } from './fixture.ts';
import { isRedisInstalled } from './installed.ts';
import { letterOf } from './letter.ts';

async function idsOf(list: AsyncIterable<DeadLetter>): Promise<string[]> {
  const ids: string[] = [];
  for await (const { id } of list) ids.push(id);
  return ids;
}

describe.skipIf(!isRedisInstalled()).each(['a single Redis', 'a Cluster'])(
  'dead letters in %s',
  (topology) => {
    const fixture = useRedis();
    let port: number;

    beforeAll(async () => {
      if (topology === 'a Cluster') port = (await fixture.servers.cluster())[0]?.port ?? 0;
    }, 60_000);

    describe.each([5, 6] as const)('with ioredis %i', (major) => {
      let client: RedisClient;
      let letters: DeadLetters;

      beforeAll(async () => {
        client =
          topology === 'a Cluster'
            ? await ready(fixture.keep(createClusterClient(major, port)))
            : await fixture.connect({ major });
      });

      function fresh(): DeadLetters {
        letters = createRedisDeadLetters(client, { scope: randomUUID() });
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
        const deadLetters = createRedisDeadLetters(client, { scope });
        let isMended = false;
        const receiver = createReceiver({
          signingKey: KEY,
          deadLetters,
          store: createRedisStore(client, { scope }),
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
    });
  },
);

describe.skipIf(!isRedisInstalled())('dead letters in a Redis', () => {
  const fixture = useRedis();

  test('that has no memory left can still be removed', async () => {
    const { put, list, remove } = createRedisDeadLetters(await fixture.connect(), { scope: randomUUID() });
    await put(letterOf('a'));
    fixture.redis.command('config', 'set', 'maxmemory', '1');
    try {
      await expect(put(letterOf('b'))).rejects.toMatchObject({ code: 'dead_letters_unavailable' });
      expect(await remove('a')).toBe(true);
    } finally {
      fixture.redis.command('config', 'set', 'maxmemory', '0');
    }
    expect(await idsOf(list())).toEqual([]);
  });
});
