import { createRedisStore } from 'posthorn/redis';
import { beforeAll, describe, expect, test } from 'vitest';
import { ampleTime } from '../../support/limits.ts';
import { until } from '../../support/until.ts';
import { createClient, createClusterClient, type Major, ready } from './clients.ts';
import { describeStore } from './conformance.ts';
import { counted } from './counted.ts';
import { type Driver, drivers, ioredis5, nodeRedis5, type OpenClient } from './drivers.ts';
import { useRedis } from './fixture.ts';

describe.each([ioredis5, nodeRedis5])('on a single Redis', (driver) => {
  const fixture = useRedis();
  describeStore(`the store with ${driver.name}`, () => driver.single(fixture.redis.port));
});

describe('on a Cluster', () => {
  const fixture = useRedis();
  for (const { name, cluster } of drivers)
    if (cluster !== undefined)
      describeStore(`the store with ${name}`, async () => cluster(await fixture.clusterPort()));

  test('operations that begin in one turn go one by one, because their keys lie on different nodes', async () => {
    const cluster = await ready(fixture.keep(createClusterClient(6, await fixture.clusterPort())));
    const { client, sent } = counted(cluster, cluster.isCluster);
    const store = createRedisStore(client, { scope: 'one-by-one', ...ampleTime });
    const ids = Array.from({ length: 30 }, (_, index) => `one-${index}`);
    const claims = ids.map((id) => store.claim({ id, token: 'a', leaseMs: 120_000, retentionMs: 240_000 }));
    expect((await Promise.all(claims)).every(({ state }) => state === 'claimed')).toBe(true);
    expect(sent).toEqual(ids.map(() => 1));
  });
});

describe.each([5, 6] as const)('with ioredis %i, which pipelines by itself', (major: Major) => {
  const fixture = useRedis();
  const options = { enableAutoPipelining: true };

  describeStore('the store on a single Redis', async () => {
    const client = await ready(createClient(major, { port: fixture.redis.port, ...options }));
    return { client, close: () => client.disconnect() };
  });

  describeStore('the store on a Cluster', async () => {
    const client = await ready(createClusterClient(major, await fixture.clusterPort(), options));
    return { client, close: () => client.disconnect() };
  });
});

describe('on a Redis that a Sentinel has failed over to', () => {
  const fixture = useRedis();
  const opened = new Map<Driver, OpenClient>();

  beforeAll(async () => {
    const { master, replica, sentinelPorts } = await fixture.servers.sentinel();
    for (const driver of drivers) opened.set(driver, await driver.sentinel(sentinelPorts));
    // A short limit, so that a store whose client still looks for the new master is asked again.
    const stores = [...opened.values()].map(({ client }) =>
      createRedisStore(client, { scope: 'failover', commandTimeoutMs: 1_000 }),
    );
    const times = { leaseMs: 60_000, retentionMs: 600_000 };
    await until('it is completed', async () => {
      const completions = stores.map((store) => store.complete({ ...times, id: 'before', token: 'a' }));
      return (await Promise.allSettled(completions)).every(({ status }) => status === 'fulfilled');
    });
    await until('the replica has it', () => replica.command('exists', 'failover:before') === '1');
    await master.kill();
    for (const store of stores)
      await until('the store answers again', () =>
        Promise.resolve(store.claim({ ...times, id: 'before', token: 'b' })).then(
          ({ state }) => state === 'completed',
          () => false,
        ),
      );
  });

  for (const driver of drivers)
    describeStore(`the store with ${driver.name}`, async () => {
      const open = opened.get(driver);
      if (open === undefined) throw new Error('the clients are opened before the failover');
      return open;
    });
});
