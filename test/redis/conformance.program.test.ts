import { createRedisStore, type RedisClient } from 'posthorn/redis';
import { storeConformance } from 'posthorn/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { until } from '../support/until.ts';
import { createClient, createClusterClient, type Major, ready } from './clients.ts';
import { type Driver, drivers, type OpenClient } from './drivers.ts';
import { type RedisServer, Servers } from './servers.ts';

const SETUP_LIMIT_MS = 90_000;
const opened = new Set<Pick<OpenClient, 'close'>>();
let servers: Servers;
let single: RedisServer;
let node: RedisServer | undefined;

beforeAll(async () => {
  servers = new Servers();
  [single, [node]] = await Promise.all([servers.single(), servers.cluster()]);
}, SETUP_LIMIT_MS);

afterAll(async () => {
  for (const { close } of opened) close();
  await servers.stop();
});

async function keep(open: Promise<OpenClient> | undefined): Promise<RedisClient> {
  if (open === undefined) throw new Error('posthorn refuses this client');
  const kept = await open;
  opened.add(kept);
  return kept.client;
}

async function pipelining(major: Major, isCluster: boolean): Promise<RedisClient> {
  const options = { enableAutoPipelining: true };
  const client = await ready(
    isCluster
      ? createClusterClient(major, node?.port ?? 0, options)
      : createClient(major, { port: single.port, ...options }),
  );
  opened.add({ close: () => client.disconnect() });
  return client;
}

async function afterFailover(driver: Driver): Promise<RedisClient> {
  const { master, replica, sentinelPorts } = await servers.sentinel();
  const client = await keep(driver.sentinel(sentinelPorts));
  const store = createRedisStore(client, { scope: 'failover' });
  await store.complete({ id: 'before', token: 'a', retentionMs: 60_000 });
  await until('the replica has it', () => replica.command('exists', 'failover:before') === '1');
  await master.kill();
  await until('the store answers again', () =>
    Promise.resolve(store.claim({ id: 'before', token: 'b', retentionMs: 60_000, leaseMs: 1_000 })).then(
      ({ state }) => state === 'completed',
      () => false,
    ),
  );
  return client;
}

function describeStore(name: string, connect: () => Promise<RedisClient>): void {
  describe(name, () => {
    let client: RedisClient;

    beforeAll(async () => {
      client = await connect();
    }, SETUP_LIMIT_MS);

    // Each case uses ids of its own.
    for (const { name, run } of storeConformance(() => createRedisStore(client, { scope: 'billing' }))) {
      test(name, run);
    }
  });
}

describe.each(drivers)('the store with $name', (driver) => {
  describeStore('on a single Redis', () => keep(driver.single(single.port)));
  describeStore('on a Redis that a Sentinel has failed over to', () => afterFailover(driver));
  if (driver.cluster !== undefined)
    describeStore('on a Cluster', () => keep(driver.cluster?.(node?.port ?? 0)));
});

describe.each([5, 6] as const)('the store with ioredis %i, which pipelines by itself,', (major) => {
  describeStore('on a single Redis', () => pipelining(major, false));
  describeStore('on a Cluster', () => pipelining(major, true));
});

test('receivers on different clients share their events', async () => {
  const clients = await Promise.all(drivers.map((driver) => keep(driver.single(single.port))));
  const stores = clients.map((client) => createRedisStore(client, { scope: 'shared' }));
  const times = { leaseMs: 20_000, retentionMs: 60_000 };
  for (const [owner, store] of stores.entries()) {
    const id = `of-${owner}`;
    await store.claim({ ...times, id, token: `${owner}` });
    for (const [other, another] of stores.entries()) {
      const expected = other === owner ? 'claimed' : 'busy';
      expect((await another.claim({ ...times, id, token: `${other}` })).state).toBe(expected);
    }
    await store.release({ ...times, id, token: `${owner}`, handled: ['book'] });
    const next = stores[(owner + 1) % stores.length];
    const again = { ...times, id, token: 'next' };
    expect(await next?.claim(again)).toMatchObject({ state: 'claimed', attempt: 2, handled: ['book'] });
    await next?.complete(again);
    for (const another of stores)
      expect((await another.claim({ ...again, token: 'late' })).state).toBe('completed');
  }
});
