import { createRedisDeadLetters, createRedisStore, type IoredisClient } from 'posthorn/redis';
import { describe, expect, test } from 'vitest';
import { ampleTime } from '../../support/limits.ts';
import { createLetter } from '../kit/conformance.ts';
import { useRedis } from './fixture.ts';

describe('a client of ioredis that counts as ready, and refuses its first command without sending it', () => {
  const fixture = useRedis();

  /** The client refuses as ioredis does when its connection has just ended. */
  async function open() {
    const connected = await fixture.connect();
    let refused = 0;
    const client: IoredisClient = {
      status: 'ready',
      on: () => {},
      eval: (...call) => connected.eval(...call),
      evalsha: (...call) => {
        if (refused > 0) return connected.evalsha(...call);
        refused += 1;
        return Promise.reject(new Error("Stream isn't writeable and enableOfflineQueue options is false"));
      },
      disconnect: () => {},
    };
    return { client, refusals: () => refused };
  }

  test('is asked again for a letter', async () => {
    const { client, refusals } = await open();
    const deadLetters = createRedisDeadLetters(client, { scope: 'unsent', ...ampleTime });
    await deadLetters.put(createLetter({ id: 'evt' }));
    expect(refusals()).toBe(1);
    expect(await deadLetters.get('evt')).toMatchObject({ id: 'evt' });
  });

  test('is asked again for a claim', async () => {
    const { client, refusals } = await open();
    const store = createRedisStore(client, { scope: 'unsent', ...ampleTime });
    const request = { id: 'evt', token: 'a', leaseMs: 120_000, retentionMs: 240_000 };
    expect(await store.claim(request)).toMatchObject({ state: 'claimed', attempt: 1 });
    expect(refusals()).toBe(1);
  });
});
