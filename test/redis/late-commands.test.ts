import { randomUUID } from 'node:crypto';
import { UnavailableError } from 'posthorn';
import { createRedisDeadLetters, createRedisStore } from 'posthorn/redis';
import { describe, expect, onTestFinished, test } from 'vitest';
import { createLetter } from '../dead-letters/conformance.ts';
import { until } from '../support/until.ts';
import { createClient } from './clients.ts';
import { useRedis } from './fixture.ts';
import { isRedisInstalled } from './installed.ts';
import { TcpProxy } from './tcp-proxy.ts';

const times = { leaseMs: 60_000, retentionMs: 120_000 };

describe.skipIf(!isRedisInstalled())('a command that its caller has given up', () => {
  const fixture = useRedis();

  async function throughProxy() {
    const proxy = await TcpProxy.start(fixture.redis.port);
    onTestFinished(() => proxy.stop());
    const client = await fixture.connect({ port: proxy.port });
    const store = createRedisStore(client, { scope: 'late', commandTimeoutMs: 150 });
    return { proxy, client, store, request: { ...times, id: randomUUID(), token: 'late' } };
  }

  async function throughRedis() {
    return createRedisStore(await fixture.connect(), { scope: 'late' });
  }

  test.each(['the first', 'a later'])('%s claim takes nothing when it runs late', async (which) => {
    const { proxy, store, request } = await throughProxy();
    // The server knows the script, so that nothing but its own refusal stands in the way.
    const warming = which === 'a later' ? store : await throughRedis();
    await warming.claim({ ...request, id: randomUUID() });
    proxy.holdRequests();
    await expect(store.claim(request)).rejects.toThrow(UnavailableError);
    await expect(store.release({ ...request, handled: [] })).rejects.toThrow('no answer in 150 ms');
    proxy.passRequests();
    await until('the connection is back', () =>
      Promise.resolve(store.complete({ ...request, id: 'other' })).then(
        () => true,
        () => false,
      ),
    );
    expect(await (await throughRedis()).claim({ ...request, token: 'another' })).toMatchObject({
      state: 'claimed',
      attempt: 1,
      abandoned: 0,
    });
  });

  test('a claim takes nothing when it runs after the release that followed it', async () => {
    const { proxy, store, client, request } = await throughProxy();
    await store.claim({ ...request, id: randomUUID() });
    proxy.holdRequests();
    await expect(store.claim(request)).rejects.toThrow(UnavailableError);
    client.disconnect();
    const direct = await throughRedis();
    expect(await direct.release({ ...request, handled: [] })).toEqual({ state: 'lost' });
    proxy.passRequests();
    await until('what was held has run', () => proxy.connectionCount === 0);
    expect(await direct.claim({ ...request, token: 'another' })).toMatchObject({
      state: 'claimed',
      attempt: 1,
    });
  });

  test('a claim that ran though its reply was lost is given back by its release', async () => {
    const { proxy, store, request } = await throughProxy();
    proxy.treatReplies('swallow');
    await expect(store.claim(request)).rejects.toThrow(UnavailableError);
    proxy.treatReplies('pass');
    const direct = await throughRedis();
    expect((await direct.claim({ ...request, token: 'another' })).state).toBe('busy');
    proxy.cutConnections();
    await until('the release is through', () =>
      Promise.resolve(store.release({ ...request, handled: [] })).then(
        ({ state }) => state === 'released',
        () => false,
      ),
    );
    expect((await direct.claim({ ...request, token: 'another' })).state).toBe('claimed');
  });

  test('a completion that runs late is taken all the same: the event was handled', async () => {
    const { proxy, store, request } = await throughProxy();
    await store.claim(request);
    await store.complete({ ...request, id: 'makes the script known' });
    proxy.holdRequests();
    await expect(store.complete(request)).rejects.toThrow(UnavailableError);
    proxy.passRequests();
    const direct = await throughRedis();
    await until('the completion has run', async () => {
      return (await direct.claim({ ...request, token: 'another' })).state === 'completed';
    });
  });

  test('a letter is not taken out by a removal that runs after its next parking', async () => {
    const { proxy, client } = await throughProxy();
    const id = randomUUID();
    const late = createRedisDeadLetters(client, { scope: 'late' });
    const direct = createRedisDeadLetters(await fixture.connect(), { scope: 'late' });
    await late.remove('what makes the script known');
    await late.put(createLetter({ id }));
    proxy.holdRequests();
    await expect(late.remove(id)).rejects.toMatchObject({ code: 'dead_letters_unavailable' });
    client.disconnect();
    await direct.put(createLetter({ id }));
    proxy.passRequests();
    await until('the late connection has ended', () => proxy.connectionCount === 0);
    expect((await direct.get(id))?.id).toBe(id);
  });

  test('a server whose clock has gone ahead is believed after one more trip', async () => {
    const client = await fixture.connect();
    const aheadMs = 60_000;
    let sent = 0;
    const store = createRedisStore(
      {
        status: 'ready',
        eval: client.eval.bind(client),
        disconnect: client.disconnect.bind(client),
        // The clock here is behind by as much as that of the server is ahead.
        evalsha: (sha1, count, key = '', notAfter = '', ...rest) => {
          sent += 1;
          const behind = sent === 1 ? String(Number(notAfter) - aheadMs) : notAfter;
          return client.evalsha(sha1, count, key, behind, ...rest);
        },
      },
      { scope: 'late' },
    );
    expect((await store.claim({ ...times, id: randomUUID(), token: 'a' })).state).toBe('claimed');
    expect(sent).toBe(2);
  });

  test('nothing is sent to a client that is not connected', async () => {
    const client = fixture.keep(createClient(6, { port: fixture.redis.port, lazyConnect: true }));
    const store = createRedisStore(client, { scope: 'late' });
    const request = { ...times, id: randomUUID(), token: 'a', handled: [] };
    const startedAt = performance.now();
    for (const operate of [store.claim, store.renew, store.complete, store.release]) {
      await expect(operate(request)).rejects.toMatchObject({
        code: 'store_unavailable',
        message: expect.stringContaining('the Redis client is not connected (its status is "wait")'),
      });
    }
    expect(performance.now() - startedAt).toBeLessThan(1_000);
    expect(client.status).toBe('wait');
  });

  test('a script that the server has forgotten is sent again', async () => {
    const { store, request } = await throughProxy();
    for (const flush of [() => fixture.redis.command('script', 'flush'), () => {}]) {
      flush();
      expect((await store.claim(request)).state).toBe('claimed');
      flush();
      expect((await store.renew(request)).state).toBe('held');
      flush();
      expect((await store.release({ ...request, handled: [] })).state).toBe('released');
    }
  });
});
