import { createRedisStore, type RedisClient } from 'posthorn/redis';
import { storeConformance } from 'posthorn/testing';
import { afterAll, beforeAll, describe, test } from 'vitest';
import { until } from '../support/until.ts';
import { type Client, createClient, createClusterClient, type Major, ready } from './clients.ts';
import { type RedisServer, Servers } from './servers.ts';

const SETUP_LIMIT_MS = 90_000;
const clients = new Set<Client>();
let servers: Servers;
let single: RedisServer;
let node: RedisServer | undefined;

beforeAll(async () => {
  servers = new Servers();
  [single, [node]] = await Promise.all([servers.single(), servers.cluster()]);
}, SETUP_LIMIT_MS);

afterAll(async () => {
  for (const client of clients) client.disconnect();
  await servers.stop();
});

const toSingle =
  (enableAutoPipelining: boolean) =>
  (major: Major): Promise<RedisClient> =>
    open(createClient(major, { port: single.port, enableAutoPipelining }));

const toCluster =
  (enableAutoPipelining: boolean) =>
  (major: Major): Promise<RedisClient> =>
    open(createClusterClient(major, node?.port ?? 0, { enableAutoPipelining }));

async function afterFailover(major: Major): Promise<RedisClient> {
  const { master, replica, sentinelPorts } = await servers.sentinel();
  const sentinels = sentinelPorts.map((port) => ({ host: '127.0.0.1', port }));
  const client = await open(createClient(major, { sentinels, name: 'primary' }));
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

async function open<C extends Client>(client: C): Promise<C> {
  clients.add(client);
  return ready(client);
}

describe.each([
  { topology: 'a single Redis', connect: toSingle(false) },
  { topology: 'a single Redis whose client pipelines by itself', connect: toSingle(true) },
  { topology: 'a Cluster', connect: toCluster(false) },
  { topology: 'a Cluster whose client pipelines by itself', connect: toCluster(true) },
  { topology: 'a Redis that a Sentinel has failed over to', connect: afterFailover },
])('the store on $topology', ({ connect }) => {
  describe.each([5, 6] as const)('with ioredis %i', (major) => {
    let client: RedisClient;

    beforeAll(async () => {
      client = await connect(major);
    }, SETUP_LIMIT_MS);

    // Each case uses ids of its own.
    for (const { name, run } of storeConformance(() => createRedisStore(client, { scope: 'billing' }))) {
      test(name, run);
    }
  });
});
