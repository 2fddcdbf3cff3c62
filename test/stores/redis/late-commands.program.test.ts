import { randomUUID } from 'node:crypto';
import { type Store, UnavailableError } from 'posthorn';
import { createRedisDeadLetters, createRedisStore, type IoredisClient } from 'posthorn/redis';
import { describe, expect, test } from 'vitest';
import { ampleTime } from '../../support/limits.ts';
import { until } from '../../support/until.ts';
import { createLetter } from '../kit/conformance.ts';
import { createClient } from './clients.ts';
import { useRedis } from './fixture.ts';
import { TcpProxy } from './tcp-proxy.ts';

const succeeds = (result: unknown): Promise<boolean> =>
  Promise.resolve(result).then(
    () => true,
    () => false,
  );

const times = { leaseMs: 120_000, retentionMs: 240_000 };

describe('a command that its caller has given up', () => {
  const fixture = useRedis();

  async function throughProxy() {
    const proxy = await TcpProxy.start(fixture.redis.port);
    const client = await fixture.connect({ port: proxy.port });
    const store = createRedisStore(client, { scope: 'late', commandTimeoutMs: 150 });
    // On the same connection, for what has to succeed however busy the machine is.
    const patient = createRedisStore(client, { scope: 'late', ...ampleTime });
    return { proxy, client, store, patient, request: { ...times, id: randomUUID(), token: 'late' } };
  }

  async function throughRedis() {
    return createRedisStore(await fixture.connect(), { scope: 'late', ...ampleTime });
  }

  const claimAnother = (store: Store) => store.claim({ ...times, id: randomUUID(), token: 'another' });

  test.each(['the first', 'a later'])('%s claim takes nothing when it runs late', async (which) => {
    const { proxy, store, request } = await throughProxy();
    // The server knows the script, so that nothing but its own refusal stands in the way.
    await claimAnother(await throughRedis());
    if (which === 'a later') await until('the store has claimed', () => succeeds(claimAnother(store)));
    proxy.holdRequests();
    await expect(store.claim(request)).rejects.toThrow(UnavailableError);
    await expect(store.release({ ...request, handled: [] })).rejects.toThrow('no answer in 150 ms');
    proxy.passRequests();
    await until('the connection is back', () => succeeds(store.complete({ ...request, id: 'other' })));
    expect(await (await throughRedis()).claim({ ...request, token: 'another' })).toMatchObject({
      state: 'claimed',
      attempt: 1,
      abandoned: 0,
    });
  });

  test('a claim takes nothing when it runs after the release that followed it', async () => {
    const { proxy, store, client, request } = await throughProxy();
    await until('the store has claimed', () => succeeds(claimAnother(store)));
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
    const { proxy, store, patient, request: template } = await throughProxy();
    await patient.claim({ ...template, id: randomUUID() });
    const direct = await throughRedis();
    let request = template;
    proxy.treatReplies('swallow');
    // On a busy machine Redis may get it so late that it refuses it.
    await until('a claim has run', async () => {
      request = { ...template, id: randomUUID() };
      await expect(store.claim(request)).rejects.toThrow(UnavailableError);
      return (await direct.claim({ ...request, token: 'another' })).state === 'busy';
    });
    proxy.treatReplies('pass');
    proxy.cutConnections();
    await until('the release is through', () =>
      Promise.resolve(patient.release({ ...request, handled: [] })).then(
        ({ state }) => state === 'released',
        () => false,
      ),
    );
    expect((await direct.claim({ ...request, token: 'another' })).state).toBe('claimed');
  });

  test('a completion that runs late is taken all the same: the event was handled', async () => {
    const { proxy, store, patient, request } = await throughProxy();
    await patient.claim(request);
    await patient.complete({ ...request, id: 'makes the script known' });
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
    const late = createRedisDeadLetters(client, { scope: 'late', commandTimeoutMs: 150 });
    const direct = createRedisDeadLetters(await fixture.connect(), { scope: 'late', ...ampleTime });
    await direct.remove('what makes the script known');
    await direct.put(createLetter({ id }));
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
    const aheadMs = 2 * ampleTime.commandTimeoutMs;
    let sent = 0;
    const behind: IoredisClient = {
      status: 'ready',
      eval: client.eval.bind(client),
      disconnect: client.disconnect.bind(client),
      // The clock here is behind by as much as that of the server is ahead.
      evalsha: (sha1, count, key = '', notAfter = '', ...rest) => {
        sent += 1;
        const limit = sent === 1 ? String(Number(notAfter) - aheadMs) : notAfter;
        return client.evalsha(sha1, count, key, limit, ...rest);
      },
    };
    const store = createRedisStore(behind, { scope: 'late', ...ampleTime });
    expect((await store.claim({ ...times, id: randomUUID(), token: 'a' })).state).toBe('claimed');
    expect(sent).toBe(2);
  });

  test('nothing is sent to a client that is not connected', async () => {
    const client = fixture.keep(createClient(6, { port: fixture.redis.port, lazyConnect: true }));
    const store = createRedisStore(client, { scope: 'late', ...ampleTime });
    const request = { ...times, id: randomUUID(), token: 'a', handled: [] };
    const startedAt = performance.now();
    for (const operate of [store.claim, store.renew, store.complete, store.release]) {
      await expect(operate(request)).rejects.toMatchObject({
        code: 'store_unavailable',
        message: expect.stringContaining('the Redis client is not connected (its status is "wait")'),
      });
    }
    expect(performance.now() - startedAt).toBeLessThan(ampleTime.commandTimeoutMs / 2);
    expect(client.status).toBe('wait');
  });

  test('a script that the server has forgotten is sent again', async () => {
    const { patient: store, request } = await throughProxy();
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
