import { createRedisStore } from 'posthorn/redis';
import { describe, expect, test } from 'vitest';
import { ampleTime } from '../../support/limits.ts';
import { useRedis } from './fixture.ts';

/** Moves the times of an open claim into the future, as they look to a server whose clock is set back. */
const POSTPONE = `
  local record = cmsgpack.unpack(redis.call('GET', KEYS[1]))
  record[5] = record[5] + ARGV[1]
  record[6] = record[6] + ARGV[1]
  redis.call('SET', KEYS[1], cmsgpack.pack(record), 'KEEPTTL')`;

describe('a Redis whose clock is set back', () => {
  const fixture = useRedis();

  test('counts the next attempt all the same, and concurrent duplicates after it once', async () => {
    const client = await fixture.connect();
    const store = createRedisStore(client, { scope: 'clock', ...ampleTime });
    const request = { id: 'event', leaseMs: 20_000, retentionMs: 86_400_000, attemptSpacingMs: 30_000 };
    const countOf = async (token: string): Promise<unknown> => {
      const claim = await store.claim({ ...request, token });
      await store.release({ ...request, token, handled: [] });
      return claim.state === 'claimed' ? claim.spacedAttempts : claim.state;
    };
    expect(await countOf('first')).toBe(1);
    await client.eval(POSTPONE, 1, 'clock:event', '600000');
    expect(await countOf('second')).toBe(2);
    expect(await countOf('its duplicate')).toBe(2);
  });
});
