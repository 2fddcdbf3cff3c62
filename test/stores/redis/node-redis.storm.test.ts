import type { Store } from 'posthorn';
import { createRedisStore, type NodeRedisClient } from 'posthorn/redis';
import { createCluster as createCluster6, createSentinel as createSentinel6 } from 'redis';
import { createClient as create5, createSentinel as createSentinel5 } from 'redis-5';
import { beforeAll, describe, expect, test } from 'vitest';
import { ampleTime } from '../../support/limits.ts';
import { until } from '../../support/until.ts';
import { useRedis } from './fixture.ts';
import { describeNodeRedis, keep } from './node-redis.ts';

const host = '127.0.0.1';
const times = { leaseMs: 120_000, retentionMs: 240_000 };
const reconnectStrategy = (): number => 50;

describeNodeRedis('node-redis 5', (options) => create5(options));

describe('a Sentinel or a Cluster of node-redis', () => {
  const fixture = useRedis();
  let sentinelRootNodes: { readonly host: string; readonly port: number }[] = [];

  beforeAll(async () => {
    const { sentinelPorts } = await fixture.servers.sentinel();
    sentinelRootNodes = sentinelPorts.map((port) => ({ host, port }));
  });

  const started: Record<string, () => Promise<NodeRedisClient>> = {
    'createSentinel of node-redis 5': async () =>
      keep(createSentinel5({ name: 'primary', sentinelRootNodes })),
    'createSentinel of node-redis 6': async () =>
      keep(createSentinel6({ name: 'primary', sentinelRootNodes })),
    'createCluster of node-redis 6': async () =>
      keep(createCluster6({ rootNodes: [{ socket: { host, port: await fixture.clusterPort() } }] })),
  };

  test.each(Object.keys(started))('%s: what comes while it connects waits', async (name) => {
    const client = await started[name]?.();
    if (client === undefined) throw new Error('no such client');
    const connecting = client.connect();
    const store = createRedisStore(client, { scope: 'started', ...ampleTime });
    expect(await store.claim({ ...times, id: name, token: 'a' })).toMatchObject({ state: 'claimed' });
    await connecting;
  });
});

describe('a Sentinel of node-redis', () => {
  const fixture = useRedis();

  test('the store answers again after a failover that takes longer than a silent connection may', async () => {
    const { master, sentinelPorts } = await fixture.servers.sentinel({ downAfterMs: 9_000 });
    const options = {
      name: 'primary',
      sentinelRootNodes: sentinelPorts.map((port) => ({ host, port })),
      nodeClientOptions: { socket: { reconnectStrategy } },
      sentinelClientOptions: { socket: { reconnectStrategy } },
    };
    const clients: NodeRedisClient[] = [keep(createSentinel5(options)), keep(createSentinel6(options))];
    await Promise.all(clients.map((client) => client.connect()));
    const stores = clients.map((client, index) =>
      createRedisStore(client, { scope: `failover-${index}`, commandTimeoutMs: 1_000 }),
    );
    const answers = (store: Store) =>
      Promise.resolve(store.claim({ ...times, id: 'evt', token: 'a' })).then(
        () => true,
        () => false,
      );
    for (const store of stores) await until('the store answers', () => answers(store));
    await master.kill();
    for (const store of stores) await until('the store answers again', () => answers(store));
  });
});
