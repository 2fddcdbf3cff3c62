import { createReceiver } from 'posthorn';
import { createRedisDeadLetters, createRedisStore } from 'posthorn/redis';
import { createEvent } from 'posthorn/testing';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createLetter } from '../dead-letters/conformance.ts';
import { readAll } from '../support/read-all.ts';
import { until } from '../support/until.ts';
import {
  type Client,
  closed,
  createClient,
  createClusterClient,
  createDefaultClient,
  ready,
} from './clients.ts';
import { KEY, serve } from './deliveries.ts';
import { useRedis } from './fixture.ts';
import { TcpProxy } from './tcp-proxy.ts';

/** Longer than any busy machine takes to connect. */
const PATIENT_MS = 30_000;
const BLIPS = 10;
const DELIVERIES = 20;

const times = { leaseMs: 60_000, retentionMs: 120_000 };

describe('a connection to Redis that is lost for a moment', () => {
  const fixture = useRedis();

  async function throughProxy() {
    const proxy = await TcpProxy.start(fixture.redis.port);
    onTestFinished(() => proxy.stop());
    return proxy;
  }

  test.each([5, 6] as const)(
    'refuses nothing but what was in flight, with the defaults of ioredis %i',
    async (major) => {
      const proxy = await throughProxy();
      const client = await ready(fixture.keep(createDefaultClient(major, proxy.port)));
      const store = createRedisStore(client, { scope: `blips-${major}`, commandTimeoutMs: PATIENT_MS });
      const handled: string[] = [];
      const receiver = createReceiver({ signingKey: KEY, store })
        .on('*', ({ id }) => handled.push(id))
        .observe(() => {});
      let arrived = 0;
      const deliver = await serve({
        receive: (delivery) => {
          arrived += 1;
          return receiver.receive(delivery);
        },
      });
      const deliverMany = () => {
        const events = Array.from({ length: DELIVERIES }, () => createEvent('transfer.created'));
        return { events, answers: Promise.all(events.map(deliver)) };
      };

      for (let blip = 1; blip <= BLIPS; blip += 1) {
        arrived = 0;
        const lost = closed(client);
        const before = deliverMany();
        await until('some are in flight', () => arrived > 0);
        proxy.cutConnections();
        // Until requests pass the client cannot become ready: it asks Redis first.
        proxy.holdRequests();
        await lost;
        const meanwhile = deliverMany();
        await until('all have arrived', () => arrived === 2 * DELIVERIES);
        expect(client.status).not.toBe('ready');
        proxy.passRequests();
        for (const answer of await meanwhile.answers)
          expect(answer).toMatchObject({ status: 200, outcome: 'processed' });
        const refused = (await before.answers).filter(({ status }) => status !== 200);
        expect(refused).toEqual(refused.map(() => expect.objectContaining({ code: 'store_unavailable' })));
        for (const event of before.events) expect((await deliver(event)).status).toBe(200);
      }
      expect(handled).toHaveLength(2 * BLIPS * DELIVERIES);
      expect(new Set(handled).size).toBe(handled.length);
    },
  );

  test('gets one listener, however many stores and operations wait for it', async () => {
    const proxy = await throughProxy();
    const client = await fixture.connect({ port: proxy.port });
    const count = () => [client.listenerCount('ready'), client.listenerCount('end')];
    const before = count();
    const lost = closed(client);
    proxy.cutConnections();
    proxy.holdRequests();
    await lost;
    const options = { scope: 'listener', commandTimeoutMs: PATIENT_MS };
    const stores = [createRedisStore(client, options), createRedisStore(client, options)];
    const claims = stores.flatMap((store, owner) =>
      Array.from({ length: 200 }, (_, index) =>
        store.claim({ ...times, id: `${owner}-${index}`, token: 'a' }),
      ),
    );
    const listed = readAll(createRedisDeadLetters(client, { scope: 'listener' }).list());
    const meanwhile = count();
    proxy.passRequests();
    expect((await Promise.all(claims)).map(({ state }) => state)).toEqual(claims.map(() => 'claimed'));
    expect(await listed).toEqual([]);
    expect([meanwhile, count()]).toEqual(Array(2).fill(before.map((listeners) => listeners + 1)));
  });

  test('lets an operation that may not wait fail at once, and no other with it', async () => {
    const proxy = await throughProxy();
    const client = await fixture.connect({ port: proxy.port });
    const store = createRedisStore(client, { scope: 'impatient', commandTimeoutMs: PATIENT_MS });
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
    const proxy = await throughProxy();
    const client = await fixture.connect({ port: proxy.port });
    const deadLetters = createRedisDeadLetters(client, { scope: 'letters' });
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
});

describe('a client that has just been created', () => {
  const fixture = useRedis();

  const clients: Record<string, () => Promise<Client>> = {
    'ioredis 5': async () => createDefaultClient(5, fixture.redis.port),
    'ioredis 6': async () => createDefaultClient(6, fixture.redis.port),
    'ioredis 6 through Sentinel': async () => {
      const { sentinelPorts } = await fixture.servers.sentinel();
      const sentinels = sentinelPorts.map((port) => ({ host: '127.0.0.1', port }));
      return createClient(6, { sentinels, name: 'primary' });
    },
    'ioredis 5 in a Cluster': async () => {
      const [node] = await fixture.servers.cluster();
      return createClusterClient(5, node?.port ?? 0);
    },
    'ioredis 6 in a Cluster': async () => {
      const [node] = await fixture.servers.cluster();
      return createClusterClient(6, node?.port ?? 0);
    },
  };

  test.each(Object.keys(clients))(
    'refuses nothing: %s',
    async (name) => {
      const client = await clients[name]?.();
      if (client === undefined) throw new Error('no such client');
      fixture.keep(client);
      expect(client.status).not.toBe('ready');
      const store = createRedisStore(client, { scope: 'start', commandTimeoutMs: PATIENT_MS });
      const [claim, letters] = await Promise.all([
        store.claim({ ...times, id: name, token: 'a' }),
        readAll(createRedisDeadLetters(client, { scope: 'start' }).list()),
      ]);
      expect(claim).toMatchObject({ state: 'claimed', attempt: 1 });
      expect(letters).toEqual([]);
    },
    60_000,
  );
});
