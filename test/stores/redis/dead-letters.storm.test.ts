import { describe } from 'vitest';
import { describeDeadLetters } from './conformance.ts';
import { drivers, ioredis6 } from './drivers.ts';
import { useRedis } from './fixture.ts';

describe('in a single Redis', () => {
  const fixture = useRedis();
  for (const driver of drivers.filter((driver) => driver !== ioredis6))
    describeDeadLetters(`dead letters with ${driver.name}`, () => driver.single(fixture.redis.port));
});

describe('in a Cluster', () => {
  const fixture = useRedis();
  for (const { name, cluster } of drivers)
    if (cluster !== undefined)
      describeDeadLetters(`dead letters with ${name}`, async () => cluster(await fixture.clusterPort()));
});
