import { createReceiver } from 'posthorn';
import { createRedisDeadLetters, createRedisStore } from 'posthorn/redis';
import { createEvent } from 'posthorn/testing';
import { describe, expect, test } from 'vitest';
import { ampleDeadlines, ampleTime } from '../../support/limits.ts';
import { readAll } from '../../support/read-all.ts';
import { until } from '../../support/until.ts';
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

const BLIPS = 10;
const DELIVERIES = 20;

const times = { leaseMs: 120_000, retentionMs: 240_000 };

describe('a connection to Redis that is lost for a moment', () => {
  const fixture = useRedis();

  test.each([5, 6] as const)(
    'refuses nothing but what was in flight, with the defaults of ioredis %i',
    async (major) => {
      const proxy = await TcpProxy.start(fixture.redis.port);
      const client = await ready(fixture.keep(createDefaultClient(major, proxy.port)));
      const store = createRedisStore(client, { scope: `blips-${major}`, ...ampleTime });
      const handled: string[] = [];
      const receiver = createReceiver({ signingKey: KEY, store, ...ampleDeadlines })
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
});

describe('a client that has just been created', () => {
  const fixture = useRedis();

  const clients: Record<string, () => Promise<Client>> = {
    'ioredis 5': async () => createDefaultClient(5, fixture.redis.port),
    'ioredis 6 through Sentinel': async () => {
      const { sentinelPorts } = await fixture.servers.sentinel();
      const sentinels = sentinelPorts.map((port) => ({ host: '127.0.0.1', port }));
      return createClient(6, { sentinels, name: 'primary' });
    },
    'ioredis 5 in a Cluster': async () => createClusterClient(5, await fixture.clusterPort()),
    'ioredis 6 in a Cluster': async () => createClusterClient(6, await fixture.clusterPort()),
  };

  test.each(Object.keys(clients))('refuses nothing: %s', async (name) => {
    const client = await clients[name]?.();
    if (client === undefined) throw new Error('no such client');
    fixture.keep(client);
    expect(client.status).not.toBe('ready');
    const store = createRedisStore(client, { scope: 'start', ...ampleTime });
    const [claim, letters] = await Promise.all([
      store.claim({ ...times, id: name, token: 'a' }),
      readAll(createRedisDeadLetters(client, { scope: 'start', ...ampleTime }).list()),
    ]);
    expect(claim).toMatchObject({ state: 'claimed', attempt: 1 });
    expect(letters).toEqual([]);
  });
});
