import { type Store, UnavailableError } from 'posthorn';
import { createRedisStore, type IoredisClient } from 'posthorn/redis';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { fakeTime } from '../../support/fake-time.ts';

// The receiver sets no time limit around a store of Redis: see `withOwnLimits`.

const request = { id: 'evt', token: 'a', leaseMs: 120_000, retentionMs: 240_000 };
const operations: [string, (store: Store) => unknown][] = [
  ['claim', (store) => store.claim(request)],
  ['renew', (store) => store.renew(request)],
  ['complete', (store) => store.complete(request)],
  ['release', (store) => store.release({ ...request, handled: [] })],
  ['peek', (store) => store.peek?.(request)],
];

const never = () => new Promise<never>(() => {});
const unsent = () =>
  Promise.reject(new Error("Stream isn't writeable and enableOfflineQueue options is false"));
const clients: [string, Pick<IoredisClient, 'status' | 'evalsha'>][] = [
  ['never answers', { status: 'ready', evalsha: never }],
  ['never connects', { status: 'connecting', evalsha: never }],
  ['never sends', { status: 'ready', evalsha: unsent }],
];

describe.each(clients)('with a client that %s', (_, client) => {
  let advance: (ms: number) => Promise<void>;
  beforeEach(() => {
    advance = fakeTime();
  });

  test.each(operations)('%s ends in commandTimeoutMs', async (_name, run) => {
    const redis = { ...client, eval: client.evalsha, on: () => {}, disconnect: () => {} };
    const store = createRedisStore(redis, { scope: 'limits', commandTimeoutMs: 500 });
    const ended = vi.fn();
    void Promise.resolve(run(store)).catch(ended);
    await advance(400);
    expect(ended).not.toHaveBeenCalled();
    await advance(150);
    expect(ended).toHaveBeenCalledExactlyOnceWith(expect.any(UnavailableError));
  });
});
