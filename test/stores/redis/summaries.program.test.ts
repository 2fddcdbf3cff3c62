import { describeSummaries } from './conformance.ts';
import { ioredis6, nodeRedis6 } from './drivers.ts';
import { useRedis } from './fixture.ts';

const fixture = useRedis();

for (const driver of [ioredis6, nodeRedis6])
  describeSummaries(
    `dead letters with ${driver.name}`,
    () => driver.single(fixture.redis.port),
    () => fixture.redis,
  );
