import { createRedisStore } from 'posthorn/redis';
import { describe, test } from 'vitest';
import { ampleTime } from '../../support/limits.ts';
import { expectKept, retentionCases } from '../kit/retention-cases.ts';
import { useRedis } from './fixture.ts';

const scope = 'retention';

describe('an id is kept in Redis, from its claim on,', () => {
  const fixture = useRedis();

  test.each(retentionCases)('$name', async (retention) => {
    const store = createRedisStore(await fixture.connect(), { scope, ...ampleTime });
    await expectKept(retention, store, (id) => Number(fixture.redis.command('pttl', `${scope}:${id}`)));
  });
});
