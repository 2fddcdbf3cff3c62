import { createRedisStore } from 'posthorn/redis';
import { beforeAll, describe } from 'vitest';
import { until } from '../support/until.ts';
import { createClient, createClusterClient, type Major, ready } from './clients.ts';
import { describeStore } from './conformance.ts';
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
