import { createRedisDeadLetters, createRedisStore } from 'posthorn/redis';
import { describe, expect, test } from 'vitest';
import { awaitedLater } from '../../support/awaited-later.ts';
import { ampleTime } from '../../support/limits.ts';
import { readAll } from '../../support/read-all.ts';
import { createLetter } from '../kit/conformance.ts';
import { closed, createDefaultClient } from './clients.ts';
import { useRedis } from './fixture.ts';
import { TcpProxy } from './tcp-proxy.ts';

const times = { leaseMs: 120_000, retentionMs: 240_000 };

describe('a connection to Redis that is lost for a moment', () => {
  const fixture = useRedis();

  test('gets one listener, however many stores and operations wait for it', async () => {
    const proxy = await TcpProxy.start(fixture.redis.port);
    const client = await fixture.connect({ port: proxy.port });
    const count = () => [client.listenerCount('ready'), client.listenerCount('end')];
    const before = count();
    const lost = closed(client);
    proxy.cutConnections();
    proxy.holdRequests();
    await lost;
    const options = { scope: 'listener', ...ampleTime };
    const stores = [createRedisStore(client, options), createRedisStore(client, options)];
    const claims = stores.flatMap((store, owner) =>
      Array.from({ length: 200 }, (_, index) =>
        store.claim({ ...times, id: `${owner}-${index}`, token: 'a' }),
      ),
    );
    const listed = awaitedLater(readAll(createRedisDeadLetters(client, options).list()));
    const meanwhile = count();
    proxy.passRequests();
    expect((await Promise.all(claims)).map(({ state }) => state)).toEqual(claims.map(() => 'claimed'));
    expect(await listed).toEqual([]);
    expect([meanwhile, count()]).toEqual(Array(2).fill(before.map((listeners) => listeners + 1)));
  });

  test('lets an operation that may not wait fail at once, and no other with it', async () => {
    const proxy = await TcpProxy.start(fixture.redis.port);
    const client = await fixture.connect({ port: proxy.port });
    const store = createRedisStore(client, { scope: 'impatient', ...ampleTime });
    const lost = closed(client);
    proxy.cutConnections();
    proxy.holdRequests();
    await lost;
    const waiting = store.claim({ ...times, id: 'waiting', token: 'a' });
    const impatient = { ...times, id: 'impatient', token: 'a', handled: [], waitMs: 0 };
    for (const operate of [store.claim, store.renew, store.complete, store.release]) {
      await expect(operate(impatient)).rejects.toThrow('the Redis client is not connected');
    }
    proxy.passRequests();
    expect(await waiting).toMatchObject({ state: 'claimed', attempt: 1 });
  });

  test('holds no listing of dead letters back: it waits', async () => {
    const proxy = await TcpProxy.start(fixture.redis.port);
    const client = await fixture.connect({ port: proxy.port });
    const deadLetters = createRedisDeadLetters(client, { scope: 'letters', ...ampleTime });
    const letters = ['a', 'b', 'c'].map((id) => createLetter({ id }));
    for (const letter of letters) await deadLetters.put(letter);
    const listed: string[] = [];
    for await (const { id } of deadLetters.list()) {
      listed.push(id);
      const lost = closed(client);
      proxy.cutConnections();
      await lost;
    }
    expect(listed).toEqual(['a', 'b', 'c']);
  });

  test('was never there yet: what comes to a client that has just been created waits', async () => {
    const client = fixture.keep(createDefaultClient(6, fixture.redis.port));
    expect(client.status).not.toBe('ready');
    const options = { scope: 'start', ...ampleTime };
    const [claim, letters] = await Promise.all([
      createRedisStore(client, options).claim({ ...times, id: 'evt', token: 'a' }),
      readAll(createRedisDeadLetters(client, options).list()),
    ]);
    expect(claim).toMatchObject({ state: 'claimed', attempt: 1 });
    expect(letters).toEqual([]);
  });
});
